"""`bisect_checkpoints`: between which two checkpoints of a long training it went bad."""

from __future__ import annotations

import os
from dataclasses import dataclass

from nanscope.api.leaves import leaves_of
from nanscope.api.trial import ABOUT_NAN
from nanscope.errors import NonFiniteError, Unreadable
from nanscope.outside.arrays import array_of
from nanscope.run import progress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Path = str | os.PathLike


@dataclass(frozen=True)
class CheckpointSearch:
    """The first bad interval.

    good    the last healthy checkpoint; None if the first is bad already
    bad     the first bad one; None if all are healthy
    why     what was bad there
    tried   how many checkpoints were looked at
    """

    good: Path | None
    bad: Path | None
    why: str
    tried: int

    def __str__(self) -> str:
        tried = f"{self.tried} {'checkpoint' if self.tried == 1 else 'checkpoints'} tried"
        if self.bad is None:
            return f"healthy to the last, {os.fspath(self.good)}; {tried}"
        if self.good is None:
            return f"the first, {os.fspath(self.bad)}, is bad already: {self.why}; {tried}"
        return f"between {os.fspath(self.good)} and {os.fspath(self.bad)}: {self.why}; {tried}"


def bisect_checkpoints(
    paths: Sequence[Path], step: Callable[[Path], object] | None = None
) -> CheckpointSearch:
    """Finds the first bad interval of a training, in as many tries as log2 of the checkpoints.

    `paths` are in the order in which they were written. `step(path)` loads one, does what shows the
    damage (a few steps, an evaluation) and returns a loss or whatever it has: bad is what holds NaN
    or Inf, or an exception about them. Without `step` the tensors in the file are looked at, with
    torch's reader that executes nothing. What is bad once is taken to stay bad.
    """
    if isinstance(paths, (str, bytes, os.PathLike)):
        raise TypeError("paths is a list of checkpoints, in the order in which they were written.")
    paths = list(paths)
    if not paths:
        raise ValueError("paths is empty: there is no checkpoint to look at.")
    tries = _Tries(step or _load)
    if tries.why(paths[-1]) is None:
        return CheckpointSearch(paths[-1], None, "", tries.count)
    if (why := tries.why(paths[0])) is not None:
        return CheckpointSearch(None, paths[0], why, tries.count)
    good, bad = 0, len(paths) - 1
    while bad - good > 1:
        middle = (good + bad) // 2
        if tries.why(paths[middle]) is None:
            good = middle
        else:
            bad = middle
    return CheckpointSearch(paths[good], paths[bad], tries.why(paths[bad]) or "", tries.count)


class _Tries:
    def __init__(self, step: Callable[[Path], object]) -> None:
        self.step = step
        self.known: dict[Path, str | None] = {}

    @property
    def count(self) -> int:
        return len(self.known)

    def why(self, path: Path) -> str | None:
        """What is bad in this one, or None; each is looked at once."""
        if path not in self.known:
            self.known[path] = self._why(path)
        return self.known[path]

    def _why(self, path: Path) -> str | None:
        try:
            with progress.counted(f"trying {os.fspath(path)}"):
                given = self.step(path)
        except Exception as error:
            text = str(error).partition("\n")[0]
            if isinstance(error, NonFiniteError) or ABOUT_NAN.search(text):
                return f"{type(error).__name__}: {text}"
            error.add_note(f"nanscope: raised while trying {os.fspath(path)}.")
            raise
        return _bad_leaf(given)


def _bad_leaf(given: object) -> str | None:
    from nanscope.api.statistics import counted, stats_of

    name = "checkpoint" if isinstance(given, dict) else "loss"
    for path, leaf in leaves_of(given, name):
        try:
            array = array_of(leaf, path)
        except Unreadable:
            continue
        if array is not None and not array.all_finite():
            return f"{path} is not finite ({counted(stats_of(leaf, path))})"
    return None


def _load(path: Path) -> object:
    import torch

    return torch.load(path, map_location="cpu", weights_only=True)
