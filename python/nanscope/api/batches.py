"""`find_first_bad_batch`: walks a loader until a step goes bad, and leaves no trace."""

from __future__ import annotations

from dataclasses import dataclass, field

from nanscope.api.training_state import SavedTraining
from nanscope.api.trial import Harm, Trial
from nanscope.errors import kind_of
from nanscope.run.progress import Progress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    import torch


@dataclass
class BatchSearch:
    """What a walk over batches came to; true if a bad one was found.

    index    of the bad batch, from 0; None if all were healthy
    batch    the bad batch itself
    harm     what went bad: `harm.kind` is loss, gradient, parameter, buffer or exception
    walked   how many batches were tried
    asked    how many were asked for, None for all
    """

    index: int | None
    batch: Any
    harm: Harm | None
    walked: int
    asked: int | None
    trial: Trial = field(repr=False)
    start: SavedTraining = field(repr=False)
    before: SavedTraining | None = field(default=None, repr=False)
    last_healthy: Any = field(default=None, repr=False)

    @property
    def found(self) -> bool:
        return self.harm is not None

    def __bool__(self) -> bool:
        return self.found

    def restore_before(self) -> None:
        """Puts model, optimizer, scheduler and random numbers where they stood before the batch."""
        if self.before is None:
            raise ValueError("there is no bad batch to go back to: all batches were healthy.")
        self.before.restore()

    def __str__(self) -> str:
        if self.found and self.index is None:
            return f"before the first batch: {self.harm}"
        if self.found:
            return f"batch {self.index}: {self.harm}; {self._count(self.walked - 1)} before it"
        early = ""
        if self.asked is not None and self.walked < self.asked:
            early = f"; the loader ended before the {self.asked} that were asked for"
        return f"{self._count(self.walked)}{early}"

    @staticmethod
    def _count(number: int) -> str:
        return f"{number} healthy {'batch' if number == 1 else 'batches'}"


def find_first_bad_batch(
    step: Callable[[Any], object],
    loader: Iterable,
    *,
    model: torch.nn.Module | None = None,
    optimizer: torch.optim.Optimizer | None = None,
    scheduler: object | None = None,
    also: Iterable = (),
    batches: int | None = None,
    progress: bool | None = None,
) -> BatchSearch:
    """Trains with `step(batch)`, which returns the loss, until something is not finite.

    Looks at the loss, the gradients, the parameters and the buffers after each step. Whatever
    comes of it, model, optimizer, scheduler, random numbers and `also` (a GradScaler: anything with
    a state_dict) are put back to where they were before the call; `restore_before()` of the result
    goes to the moment before the bad batch. A copy of all of them is taken before each step.
    """
    _require(step, loader, model, optimizer)
    others = (scheduler, *also)
    trial = Trial(step, model, optimizer)
    start = SavedTraining(model, optimizer, others, loader)
    search = BatchSearch(None, None, trial.bad_already(), 0, batches, trial, start)
    if not search.found:
        bar = Progress(_total(loader, batches), "batches", progress)
        try:
            _walk(search, loader, bar, lambda: SavedTraining(model, optimizer, others))
        finally:
            bar.close()
            start.restore()
    if search.walked == 0 and not search.found:
        raise ValueError("the loader gave no batch: it is empty, or an iterator that was used up.")
    return search


def _walk(search: BatchSearch, loader: Iterable, bar: Progress, saved_now: Callable) -> None:
    for index, batch in enumerate(loader):
        before = saved_now()
        search.walked = index + 1
        try:
            harm = search.trial.run(batch)
        except Exception as error:
            error.add_note(f"nanscope: the step raised this in batch {index}; all is restored.")
            raise
        bar.advance()
        if harm is not None:
            search.index, search.batch, search.harm, search.before = index, batch, harm, before
            return
        search.last_healthy = batch
        if search.walked == search.asked:
            return


def _total(loader: Iterable, batches: int | None) -> int | None:
    try:
        length = len(loader)  # type: ignore[arg-type]
    except TypeError:
        return batches
    return length if batches is None else min(length, batches)


def _require(step: object, loader: object, model: object, optimizer: object) -> None:
    if not callable(step):
        raise TypeError(f"step is a function of a batch, not {kind_of(step)}.")
    if isinstance(loader, (str, bytes)) or not hasattr(loader, "__iter__"):
        raise TypeError(f"loader is something to iterate over, not {kind_of(loader)}.")
    if model is None and optimizer is None:
        raise TypeError(
            "find_first_bad_batch needs model= or optimizer=: without them neither gradients nor "
            "parameters can be looked at, nor put back."
        )
