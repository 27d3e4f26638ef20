"""A training that somebody's trainer runs, watched from its first moment to its last.

What the callbacks of the trainers have in common: one watch() block over the training, the place of
the first error in the trainer's own words, the report at the end and its page beside the logs.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Mapping
from typing import Any, Literal

from nanscope.api.watch import WatchBlock
from nanscope.run.ending import say, write_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from nanscope.findings import Finding
    from nanscope.run.conclusion import Conclusion

OnFind = Literal["stop", "raise", "go_on"]
PAGE = "nanscope.html"
MOST_PLACES = 256  # of the last steps
CUT_SHORT = (
    "nanscope: this training goes on unwatched, for another one with a NanscopeCallback has begun."
)


def _go_on(_: Finding) -> None:
    """At module level, for trainers that pickle their callbacks."""


class WatchedTraining(WatchBlock):
    """`on_find`: "stop" lets the trainer end as it ends early, "raise" raises `NonFiniteError`
    where the harm happens, "go_on" only reports. `place` is where the first error was met;
    `batch_here` tells of the batch in the frames of the trainer, if `now` cannot.
    """

    def __init__(
        self,
        on_find: OnFind,
        mode: Literal["exact", "sentinel"],
        batch_here: Callable[[], dict[str, object]] = dict,
    ) -> None:
        if on_find not in ("stop", "raise", "go_on"):
            raise ValueError(f'on_find is "stop", "raise" or "go_on", not {on_find!r}.')
        super().__init__(mode=mode, on_find="raise" if on_find == "raise" else _go_on)
        self.stops = on_find == "stop"
        self.batch_here = batch_here
        self.now: dict[str, object] = {}  # the trainer's own counts, by its own names
        self.places: dict[int, dict[str, object]] = {}  # what they were, by our steps
        self.before: dict[str, object] = {}  # what they were until a backward of this batch
        self.place: dict[str, object] = {}
        self.remarks: list[str] = []
        self.folder = ""  # where the page goes
        self.active = False
        self.cut_short = False  # by another training, though it goes on

    @property
    def wants_to_stop(self) -> bool:
        return self.stops and bool(self.place)

    def goes_on(self, now: dict[str, object]) -> None:
        """The trainer begins a batch, or ends a step."""
        if self.cut_short:
            self.cut_short = False
            say(CUT_SHORT)
        self.now = now
        if self._adapter is not None:
            self.places[self._adapter.current_step()] = now
        if len(self.places) > MOST_PLACES:
            del self.places[next(iter(self.places))]

    def place_of(self, finding: Finding) -> dict[str, object]:
        """Harm may be known for such only when other batches have begun."""
        if self.before and finding.harm is not None and finding.harm.kind == "loss":
            return self.before  # this batch has none yet
        step = step_of_harm(finding)
        if step != self._adapter.current_step() and step in self.places:
            return self.places[step]
        return {**self.now, **self.batch_here()}

    def exception_for_finding(
        self, number: int, finding: Finding, text: str
    ) -> BaseException | None:
        """On the thread that did harm, whose frames still hold the batch."""
        if not self.place:
            self.place = self.place_of(finding)
        # A trainer that tells nobody of an exception ends the block late; who catches it may ask.
        self.findings = self.findings or [finding]
        return super().exception_for_finding(number, finding, text)

    def begin(self, folder: str) -> None:
        """Nothing is done under `nanscope run`, which watches the whole program."""
        run = sys.modules.get("nanscope.run.process")
        if run is not None and run.begun:
            return
        for earlier in list(_begun):  # ended by an exception, unseen
            earlier.end()
            earlier.cut_short = earlier is not self
        self.cut_short = False
        self.folder, self.now, self.before, self.places, self.place = folder, {}, {}, {}, {}
        self.__enter__()
        self.active = True
        _begun.append(self)
        atexit.register(self.end)

    def end(self, error: BaseException | None = None) -> None:
        if not self.active:
            return
        self.active = False
        _begun.remove(self)
        atexit.unregister(self.end)
        self.__exit__(type(error) if error is not None else None, error, None)

    def _report(self, conclusion: Conclusion, error: BaseException | None) -> None:
        self.take_findings(conclusion)
        lines = [*conclusion.complaints, self.report.rstrip("\n")]
        if self.finding is not None:
            lines += self.words_of_the_trainer(self.finding) + self.page(conclusion)
        say("\n".join(lines))

    def words_of_the_trainer(self, finding: Finding) -> list[str]:
        known = self.place or self.places.get(step_of_harm(finding), {})
        place = dict(known or self.now)
        losses = {row.step: row.loss for row in finding.history if row.loss is not None}
        if place and step_of_harm(finding) in losses:
            place["loss"] = f"{losses[step_of_harm(finding)]:.6g}"
        words = ", ".join(f"{name} {value}" for name, value in place.items())
        which = "In the trainer's words"
        if not known:
            which = "The end of the training in the trainer's words"
        elif step_of_harm(finding) != finding.origin.step:
            which = "The harm in the trainer's words"
        return [f"{which}: {words or 'before the first batch'}.", *self.remarks]

    def page(self, conclusion: Conclusion) -> list[str]:
        try:
            text = conclusion.capture.html("")
        except ValueError:  # nanscope was built without it
            return []
        path = os.path.join(self.folder, PAGE)
        try:
            os.makedirs(self.folder or ".", exist_ok=True)
            write_text(path, text)
        except OSError as error:
            return [f"The page could not be written to {path}: {error.strerror}."]
        return [f"Page: {path}"]


_begun: list[WatchedTraining] = []  # at most one, for it is one watch at a time


def step_of_harm(finding: Finding) -> int:
    return finding.harm.step if finding.harm is not None else finding.origin.step


class WatchesTraining:
    """A callback of a trainer, beside that trainer's own class of callbacks."""

    def __init__(
        self, on_find: OnFind = "stop", mode: Literal["exact", "sentinel"] = "exact"
    ) -> None:
        self.training = WatchedTraining(on_find, mode, self.batch_here)

    @property
    def finding(self) -> Finding | None:
        """The first error: the one that was met, once the training has ended the whole of it."""
        return self.training.finding

    def batch_here(self) -> dict[str, object]:
        return {}


def keys_of(batch: Any) -> str:
    """What a batch consists of, in a word: its keys, or how many things it holds."""
    if isinstance(batch, Mapping):
        return ", ".join(map(str, batch))
    if isinstance(batch, (tuple, list)):
        return f"{len(batch)} items"
    return type(batch).__name__
