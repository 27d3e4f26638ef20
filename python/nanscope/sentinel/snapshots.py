"""Snapshots: copies of this process, made by a fork, that wait until they are woken or killed.

A copy holds all there is: the program's Python, its random numbers, optimizer and data. It shares
memory with the run until one of them writes. It dies with its parent, whatever that dies of.
"""

from __future__ import annotations

import fcntl
import os
import signal
import struct
import sys
import time

from nanscope import _core
from nanscope.sentinel.files import OpenFile, open_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

MOST_ALIVE = 2
OUT_OF_THE_WAY = 200  # descriptors that programs do not count on
TO_THE_END = (1 << 63) - 1


class Snapshot:
    """A copy that waits; `answer` is a file in memory for what it has to say."""

    def __init__(self, pid: int, wake: int, answer: int, moments: int, steps: int) -> None:
        self.pid = pid
        self.wake = wake
        self.answer = answer
        self.moments = moments
        self.steps = steps
        self.taken_at = time.monotonic()

    def wake_up(self, last_moment: int) -> bool:
        try:
            return os.write(self.wake, struct.pack("q", last_moment)) == 8
        except OSError:
            return False  # it is gone: killed for want of memory, perhaps

    def end(self) -> None:
        """No process is left of it, and no zombie."""
        for kill in (os.killpg, os.kill):
            try:
                kill(self.pid, signal.SIGKILL)
            except OSError:
                pass
        try:
            os.waitpid(self.pid, 0)
        except OSError:
            pass  # the program waited for all its children
        self.forget()

    def forget(self) -> None:
        for descriptor in (self.wake, self.answer):
            try:
                os.close(descriptor)
            except OSError:
                pass


class Woken:
    """This process is a copy, and is to run up to that moment."""

    def __init__(self, run: int, answer: int, last_moment: int, files: list[OpenFile]) -> None:
        self.run = run
        self.answer = answer
        self.last_moment = last_moment
        self.files = files


class Snapshots:
    def __init__(self, adapter: ModuleType) -> None:
        self.adapter = adapter
        self.alive: list[Snapshot] = []  # the oldest first
        self.forking = False  # by us: not a child of the program's
        self.taken = 0

    def take(self, moments: int, steps: int) -> Woken | None:
        """None in the run; in the copy, once it is woken, what it is to do."""
        while len(self.alive) >= MOST_ALIVE:
            self.alive.pop(0).end()
        run, answer = os.getpid(), _moved_up(os.memfd_create("nanscope", os.MFD_CLOEXEC))
        wake_read, wake = map(_moved_up, os.pipe())
        files = open_files()
        numbers = _Numbers()
        self.adapter.pause_openmp()
        self.forking = True
        try:
            pid = os.fork()
        except OSError:
            for descriptor in (answer, wake_read, wake):
                os.close(descriptor)
            raise
        finally:
            self.forking = False
        if pid == 0:
            os.close(wake)
            numbers.restore()
            last_moment = _core.wait_to_be_woken(wake_read, run)
            os.close(wake_read)
            for snapshot in self.alive:
                snapshot.forget()
            self.alive = []
            return Woken(run, answer, last_moment, files)
        os.close(wake_read)
        self.taken += 1
        self.alive.append(Snapshot(pid, wake, answer, moments, steps))
        return None

    def before(self, steps: int, enough: int) -> list[Snapshot]:
        """Those to ask, the best first: the newest with enough steps to go, then older ones."""
        newest_first = self.alive[::-1]
        far = [s for s in newest_first if steps - s.steps >= enough]
        return far + [s for s in self.alive if s not in far]

    def end_all(self) -> None:
        while self.alive:
            self.alive.pop().end()

    def forked(self) -> None:
        """In a child of the program: they are its parent's."""
        for snapshot in self.alive:
            snapshot.forget()
        self.alive = []


class _Numbers:
    """Python's own random numbers: the interpreter seeds them anew in every child."""

    def __init__(self) -> None:
        self.random = sys.modules.get("random")
        self.state = self.random.getstate() if self.random is not None else None

    def restore(self) -> None:
        if self.random is not None:
            self.random.setstate(self.state)


def _moved_up(low: int) -> int:
    high = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, OUT_OF_THE_WAY)
    os.close(low)
    return high
