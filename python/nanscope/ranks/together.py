"""The end of a rank: one tells of all, the others leave it to that one.

When one rank has found an error, the others are told through the store. A small thread of each
listens there: it stops the program of its rank, and ends the process where that cannot be stopped
because it waits in a collective for a rank that is gone.
"""

from __future__ import annotations

import json
import os
import sys
import time
from _thread import allocate_lock, get_ident, start_new_thread

from nanscope.ranks.board import STOP, board, has_ended

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from nanscope import _core
    from nanscope.ranks.replicas import Replicas

LISTEN_EVERY_S = 0.5
OWN_ERROR_S = 1.0  # a rank that was given the same value finds its own error in the same step
STUCK_AFTER_S = 5.0  # in one place: a collective that waits for a rank that has ended
# For a rank to say how it ended: one of which nothing is known, and one that still runs here.
WAIT_FOR_UNKNOWN_S = 20.0
WAIT_FOR_RUNNING_S = 60.0
WAIT_FOR_END_S = 10.0  # of a process that has said all it had to say
TELLER, REPORTED, LEFT = "teller", "reported", "left"


class Listener:
    """Waits for the word that a rank has found an error."""

    def __init__(self) -> None:
        self.stopped: Callable[[], None] | None = None  # called on the listener's own thread
        self._quit = None
        self._ended = None
        self._thread = 0

    def begin(self) -> None:
        """Whenever there is a new store."""
        store = board.another_connection()
        if store is None or self.stopped is None:
            return
        self.end()
        self._quit, self._ended = allocate_lock(), allocate_lock()
        self._quit.acquire()
        self._ended.acquire()
        self._thread = start_new_thread(self._listen, (store, self._quit, self._ended))

    def end(self) -> None:
        """Before the interpreter is torn down."""
        if self._quit is None or get_ident() == self._thread or not self._quit.locked():
            return
        self._quit.release()
        self._ended.acquire(timeout=5)

    def forked(self) -> None:
        """In the child of a fork: the thread is its parent's."""
        self._quit = self._ended = None

    def _listen(self, store, quits, ended) -> None:
        try:
            while not quits.acquire(timeout=LISTEN_EVERY_S):
                if store.check([STOP]):
                    if not quits.acquire(timeout=OWN_ERROR_S):
                        self.stopped()
                    return
        except Exception:
            pass  # the store is gone: whoever kept it has ended
        finally:
            ended.release()


listener = Listener()


def is_one_of_many() -> bool:
    return board.world_size() > 1


def has_other_hosts() -> bool:
    """Ranks that another launcher has started."""
    here = os.environ.get("LOCAL_WORLD_SIZE", "")
    return here.isdigit() and 0 < int(here) < board.world_size()


def stop_others() -> None:
    """This rank has found an error."""
    _quietly(lambda store: store.set(STOP, str(board.own_rank())))


def are_stopped() -> bool:
    return bool(_quietly(lambda store: store.check([STOP])))


def stays_in_one_place(thread: int, has_ended: Callable[[], bool]) -> bool:
    """Waits until the thread has ended, or has been in one place for long."""
    last, since = None, time.monotonic()
    while not has_ended():
        frame = sys._current_frames().get(thread)
        here = None if frame is None else (id(frame), frame.f_lasti)
        frame = None  # or the program's locals would be held
        if here != last:
            last, since = here, time.monotonic()
        elif time.monotonic() - since > STUCK_AFTER_S:
            return True
        time.sleep(0.05)
    return False


class End:
    """What one rank says of its end.

    `capture` is empty if it found no error; `replicas`: what is to be equal on all ranks;
    `launcher` names the run that tells of it, or is empty.
    """

    def __init__(
        self,
        number: int,
        host: str,
        pid: int,
        sentence: str,
        path: str,
        capture: bytes,
        replicas: Replicas | None = None,
        launcher: str = "",
    ) -> None:
        self.rank = number
        self.host = host
        self.pid = pid
        self.sentence = sentence
        self.path = path
        self.capture = capture
        self.replicas = replicas
        self.launcher = launcher

    def to_bytes(self) -> bytes:
        head = {key: value for key, value in vars(self).items() if key != "capture"}
        return json.dumps(head).encode() + b"\n" + self.capture

    def write(self) -> None:
        data = self.to_bytes()
        _quietly(lambda store: store.set(f"ended/{self.rank}", data))

    @classmethod
    def read(cls, data: bytes) -> End:
        head, _, capture = data.partition(b"\n")
        said = json.loads(head)
        return cls(said.pop("rank"), capture=capture, **said)

    @classmethod
    def of(
        cls,
        capture: _core.Capture,
        path: str,
        sentence: str,
        replicas: Replicas | None,
        launcher: str,
    ) -> End:
        data = capture.to_bytes() if capture.error else b""
        host = os.uname().nodename
        rank = board.own_rank()
        return cls(rank, host, os.getpid(), sentence, path, data, replicas, launcher)


def is_teller() -> bool:
    """The first to ask tells of all."""
    return _quietly(lambda store: store.add(TELLER, 1)) in (1, None)


def ends_of_others(own: End) -> tuple[list[End], list[int]]:
    """The ends of the ranks that have ended in time, this one too; and the ranks that have not."""
    ends = {own.rank: own}
    began = time.monotonic()
    while True:
        missing = [one for one in range(board.world_size()) if one not in ends]
        gone = {one: board.is_gone(one) for one in missing}  # before the last look
        for one in missing:
            data = _quietly(lambda store, key=f"ended/{one}": store.check([key]) and store.get(key))
            if data:
                ends[one] = End.read(data)
        missing = [one for one in missing if one not in ends]
        waited = time.monotonic() - began
        if board.store() is None or not any(_may_come(gone[one], waited) for one in missing):
            return [ends[one] for one in sorted(ends)], missing
        time.sleep(0.05)


def _may_come(gone: bool | None, waited: float) -> bool:
    """Whether a rank may yet say how it ended."""
    if gone is None:
        return waited < WAIT_FOR_UNKNOWN_S
    return not gone and waited < WAIT_FOR_RUNNING_S


def has_reported() -> None:
    _quietly(lambda store: store.set(REPORTED, "1"))


def wait_until_reported() -> bool:
    """A launcher ends all ranks when the first has ended: the one that tells is to be the last.

    False if nobody told in time.
    """
    waited_until = time.monotonic() + 2 * WAIT_FOR_RUNNING_S
    while time.monotonic() < waited_until:
        has_spoken = _quietly(lambda store: store.check([REPORTED]))
        if has_spoken or has_spoken is None:
            return bool(has_spoken)
        time.sleep(0.05)
    return False


def wait_for_end_of(pid: int) -> None:
    """It may wait for this process in turn."""
    waited_until = time.monotonic() + WAIT_FOR_END_S
    while time.monotonic() < waited_until and not has_ended(pid):
        time.sleep(0.05)


def leave_with_others(count: int) -> None:
    """The store ends with its host: nobody leaves before all that are there have read it."""
    _quietly(lambda store: store.add(LEFT, 1))
    waited_until = time.monotonic() + WAIT_FOR_UNKNOWN_S
    while time.monotonic() < waited_until:
        left = _quietly(lambda store: store.add(LEFT, 0))
        if left is None or left >= count:
            return
        time.sleep(0.05)


def _quietly(act):
    store = board.store()
    if store is None:
        return None
    try:
        return act(store)
    except Exception:
        return None  # it is gone
