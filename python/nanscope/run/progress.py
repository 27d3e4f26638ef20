"""A progress bar on stderr, for a person at a terminal and for nobody else."""

from __future__ import annotations

import sys
import time

WIDTH = 30
EVERY_S = 0.1


class Progress:
    def __init__(self, total: int | None, noun: str, wanted: bool | None = None) -> None:
        self.total = total
        self.noun = noun
        self.done = 0
        self.drawn_at = 0.0
        stream = sys.stderr
        self.on = bool(stream is not None and stream.isatty()) if wanted is None else wanted

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
