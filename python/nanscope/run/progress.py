"""How far work is, on stderr: for a person at a terminal and for nobody else."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

WIDTH = 30
EVERY_S = 0.1
LONG_S = 2.0  # work that takes no longer needs no line


def is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


class Progress:
    def __init__(self, total: int | None, noun: str, wanted: bool | None = None) -> None:
        self.total = total
        self.noun = noun
        self.done = 0
        self.drawn_at = 0.0
        self.on = is_terminal() if wanted is None else wanted

    def advance(self) -> None:
        self.reach(self.done + 1)

    def reach(self, done: int) -> None:
        self.done = done
        now = time.monotonic()
        if self.on and (now - self.drawn_at > EVERY_S or self.done == self.total):
            self.drawn_at = now
            self._draw()

    def close(self) -> None:
        if self.on and self.drawn_at:
            self._draw()
            sys.stderr.write("\n")
            sys.stderr.flush()

    def _draw(self) -> None:
        count = f"{self.done}/{self.total}" if self.total else f"{self.done}"
        bar = ""
        if self.total:
            full = WIDTH * min(self.done, self.total) // self.total
            bar = f"[{'#' * full}{'.' * (WIDTH - full)}] "
        sys.stderr.write(f"\r{bar}{count} {self.noun}")
        sys.stderr.flush()


class Seconds:
    """A line that says what is waited for and how long already; at the end it is gone."""

    def __init__(
        self, what: str, wanted: bool | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.what = what
        self.on = is_terminal() if wanted is None else wanted
        self.clock = clock
        self.began = clock()
        self.width = 0

    def look(self) -> None:
        seconds = self.clock() - self.began
        if not self.on or seconds < LONG_S:
            return
        text = f"nanscope: {self.what}, {seconds:.0f} s"
        self.width = max(self.width, len(text))
        self._write("\r" + text)

    def close(self) -> None:
        if self.width:
            self._write("\r" + " " * self.width + "\r")

    @staticmethod
    def _write(text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except (OSError, ValueError):
            pass  # closed or gone


def wait_for(take: Callable[[float], T], what: str, patience: float, tell: bool) -> T:
    """Takes what a process gives, with a line on a terminal that counts the seconds.

    `take`: its `wait` or `communicate`, which raises TimeoutExpired after so many seconds.
    """
    line = Seconds(what, None if tell else False)
    until = time.monotonic() + patience
    try:
        while True:
            left = until - time.monotonic()
            try:
                return take(max(0.0, min(1.0, left)))
            except subprocess.TimeoutExpired:
                if left <= 0:
                    raise
                line.look()
    finally:
        line.close()


@contextmanager
def counted(what: str, tell: bool = True) -> Iterator[None]:
    """On a terminal, a line that counts the seconds of what cannot say how far it is."""
    line = Seconds(what, None if tell else False)
    if not line.on:
        yield
        return
    done = threading.Event()

    def count() -> None:
        while not done.wait(1.0):
            line.look()

    thread = threading.Thread(target=count, name="nanscope-seconds", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        line.close()
