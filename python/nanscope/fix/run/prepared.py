"""A process that has imported torch once, and makes each repeat by a fork of itself.

Of a short program's time most is the import of torch. The first run is a process of its own, as the
user would start it; this one is made ready beside it, and used if the first run says that a repeat
may find torch imported (environment.py). The forks have one thread, so that they can go into a
sandbox of their own.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from importlib import import_module

from nanscope.fix.run import child

MODULES = ("numpy", "torch", "torch._dynamo")  # an optimizer's first call imports the last
PATIENCE = 5.0  # seconds between asking a run to end and ending it


class Prepared:
    """The verb's end: starts the process, and asks it for runs."""

    def __init__(self, environment: dict[str, str]) -> None:
        theirs, self._ask = os.pipe()
        self._hear, answers = os.pipe()
        self._heard = b""
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(theirs), str(answers)],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(theirs, answers),
        )
        os.close(theirs)
        os.close(answers)

    def run(self, plan: str, folder: str | None, words: str, seconds: float) -> int | None:
        """Runs a plan; its status, -9 if it took too long, None if the process is gone."""
        order = json.dumps({"plan": plan, "folder": folder, "words": words})
        try:
            os.write(self._ask, order.encode() + b"\n")
        except BrokenPipeError:
            return None
        pid = self._next(None)
        if pid is None:
            return None
        try:
            status = self._next(seconds)
        except TimeoutError:
            self._end(pid)
            return -9
        except BaseException:
            self._end(pid)
            raise
        return status

    def _end(self, pid: int) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.kill(pid, number)
                self._next(PATIENCE)
                return
            except TimeoutError:
                continue
            except ProcessLookupError:
                return

    def _next(self, seconds: float | None) -> int | None:
        """The next number that it says; None at its end."""
        until = None if seconds is None else time.monotonic() + seconds
        while b"\n" not in self._heard:
            left = None if until is None else max(0.0, until - time.monotonic())
            if not select.select([self._hear], [], [], left)[0]:
                raise TimeoutError
            more = os.read(self._hear, 4096)
            if not more:
                return None
            self._heard += more
        line, _, self._heard = self._heard.partition(b"\n")
        return int(line)

    def close(self) -> None:
        os.close(self._ask)  # it ends where it reads nothing more
        os.close(self._hear)
        self._process.wait()


def serve(orders: int, answers: int) -> str | None:
    """Forks for every order. Returns in the children alone, with the path of their plan."""
    with os.fdopen(orders, "rb", buffering=0) as lines:
        while line := _line_of(lines):
            order = json.loads(line)
            pid = os.fork()
            if pid == 0:
                os.close(answers)
                lines.close()
                _go_where(order)
                return order["plan"]
            os.write(answers, b"%d\n" % pid)
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            os.write(answers, b"%d\n" % status)
    return None


def _line_of(lines) -> bytes:
    """Reads no more than a line: what follows is not for the child that is forked now."""
    line = b""
    while not line.endswith(b"\n"):
        byte = lines.read(1)
        if not byte:
            return b""
        line += byte
    return line


def _go_where(order: dict) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    quiet = os.open(order["words"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(quiet, 2)
    os.close(quiet)
    if order["folder"] is not None:
        os.chdir(order["folder"])


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the verb decides, not the terminal
    ours = sys.path.pop(0)  # the folder of this file: its names are not for torch
    for name in MODULES:
        with suppress(ImportError):
            import_module(name)
    sys.path.insert(0, ours)  # the program's own takes its place
    plan = serve(int(sys.argv[1]), int(sys.argv[2]))
    if plan is not None:
        sys.argv = [child.__file__, plan]
        child.main()


if __name__ == "__main__":
    main()
