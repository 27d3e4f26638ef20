"""`bisect_samples`: the smallest set of samples in a batch that still fails.

Delta debugging (Zeller, Hildebrandt: Simplifying and isolating failure-inducing input): halves,
then finer parts and what remains without them, until no part can be left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from nanscope.api.batches import BatchSearch
from nanscope.api.training_state import SavedTraining
from nanscope.api.trial import Harm, Trial
from nanscope.run.progress import Progress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

BLAME = {
    "batch": "the batch alone is to blame: it fails from the state at the start too",
    "state": "the state before it is to blame: the healthy batch before it fails from there too",
    "both": "it takes this batch and the state that training had reached",
    "unknown": "whether the state before it had a part is not known",
}


@dataclass(frozen=True)
class SampleSearch:
    """The samples that still fail, as indices into the batch.

    batch   those samples alone, in the form of the batch
    harm    what they do
    blame   "batch", "state", "both" or "unknown"
    tried   how many steps were run
    """

    samples: tuple[int, ...]
    of: int
    batch: Any
    harm: Harm
    blame: Literal["batch", "state", "both", "unknown"]
    tried: int

    def __str__(self) -> str:
        noun = "sample" if self.of == 1 else "samples"
        names = ", ".join(map(str, self.samples[:12])) + (", ..." if len(self.samples) > 12 else "")
        return (
            f"{len(self.samples)} of {self.of} {noun}: [{names}] ({self.harm}); "
            f"{BLAME[self.blame]}; {self.tried} steps tried"
        )


def bisect_samples(
    found: BatchSearch | Any,
    step: Callable[[Any], object] | None = None,
    *,
    model=None,
    optimizer=None,
    scheduler: object | None = None,
    also: Iterable = (),
    select: Callable[[Any, Sequence[int]], Any] | None = None,
    size: int | None = None,
    progress: bool | None = None,
) -> SampleSearch:
    """Narrows a bad batch to the samples that make it fail, and says who is to blame.

    `found` is what `find_first_bad_batch` returned, or a batch together with `step`, `model` and
    `optimizer`. Each try begins where training stood before the batch; afterwards all is put back.
    `select(batch, indices)` takes samples out of a batch that is no nest of tensors and lists, and
    `size` says how many it has.
    """
    search = _search(found, step, model, optimizer, (scheduler, *also))
    here = search.before.now()
    count = size if size is not None else batch_size(search.batch)
    select = select or take
    tries = _Tries(search, Progress(None, "steps tried", progress), select)
    try:
        harm = tries.of_all()
        if harm is None:
            raise ValueError(
                "the batch does not fail again from the state before it: the step depends on "
                "something that is not saved, or the batch was changed in place."
            )
        kept = _smallest(list(range(count)), tries.fails)
        part = select(search.batch, kept)
        blame = tries.blame()
        return SampleSearch(
            tuple(kept), count, part, tries.harm_of(kept) or harm, blame, tries.count
        )
    finally:
        tries.bar.close()
        here.restore()


def batch_size(batch: object) -> int:
    """How many samples: the first size that tensors and lists of the batch agree on."""
    sizes = list(_sizes(batch))
    if not sizes:
        raise TypeError(
            "the batch holds neither tensors nor lists of samples; pass select= and size=."
        )
    return sizes[0]


def take(batch: Any, indices: Sequence[int]) -> Any:
    """These samples: of each tensor, array and list in the batch that has one entry for each."""
    return _take(batch, list(indices), batch_size(batch))


def _take(value: Any, indices: list[int], size: int) -> Any:
    if hasattr(value, "shape"):
        return value[indices] if len(value.shape) > 0 and value.shape[0] == size else value
    if isinstance(value, dict):
        parts = {key: _take(part, indices, size) for key, part in value.items()}
        return parts if type(value) is dict else type(value)(parts)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_take(part, indices, size) for part in value))
    if isinstance(value, (list, tuple)):
        if len(value) == size and not any(map(_has_samples, value)):
            return type(value)(value[i] for i in indices)
        return type(value)(_take(part, indices, size) for part in value)
    return value


def _has_samples(value: object) -> bool:
    return any(True for _ in _sizes(value)) and not isinstance(value, (int, float))


def _sizes(value: object):
    if hasattr(value, "shape"):
        if len(value.shape) > 0:
            yield value.shape[0]
    elif isinstance(value, dict):
        for part in value.values():
            yield from _sizes(part)
    elif isinstance(value, (list, tuple)):
        inner = [size for part in value for size in _sizes(part)]
        yield from inner or ([len(value)] if value else [])


class _Tries:
    """Steps from a known state; what a subset does for another reason counts as nothing."""

    def __init__(self, search: BatchSearch, bar: Progress, select: Callable) -> None:
        self.search = search
        self.bar = bar
        self.select = select
        self.count = 0
        self.known: dict[tuple[int, ...], Harm | None] = {}

    def run(self, state: SavedTraining, batch: object) -> Harm | None:
        state.restore()
        self.count += 1
        self.bar.advance()
        return self.search.trial.run(batch)

    def of_all(self) -> Harm | None:
        return self.run(self.search.before, self.search.batch)

    def harm_of(self, indices: list[int]) -> Harm | None:
        key = tuple(indices)
        if key not in self.known:
            try:
                part = self.select(self.search.batch, indices)
                self.known[key] = self.run(self.search.before, part)
            except Exception:  # BatchNorm of one sample, a shape the model does not take
                self.known[key] = None
        return self.known[key]

    def fails(self, indices: list[int]) -> bool:
        return self.harm_of(indices) is not None

    def blame(self) -> Literal["batch", "state", "both", "unknown"]:
        search = self.search
        if search.start is search.before or search.walked == 0:
            return "unknown"
        if search.index == 0 or self.run(search.start, search.batch) is not None:
            return "batch"
        return "state" if self.run(search.before, search.last_healthy) is not None else "both"


def _smallest(all_samples: list[int], fails: Callable[[list[int]], bool]) -> list[int]:
    kept, parts = all_samples, 2
    while len(kept) >= 2:
        chunks = [kept[len(kept) * i // parts : len(kept) * (i + 1) // parts] for i in range(parts)]
        part = next((chunk for chunk in chunks if chunk and fails(chunk)), None)
        if part is not None:
            kept, parts = part, 2
            continue
        rests = ([i for i in kept if i not in set(chunk)] for chunk in chunks)
        rest = next(
            (rest for rest in rests if len(rest) < len(kept) and rest and fails(rest)), None
        )
        if rest is not None:
            kept, parts = rest, max(parts - 1, 2)
        elif parts < len(kept):
            parts = min(2 * parts, len(kept))
        else:
            break
    return kept


def _search(found, step, model, optimizer, others) -> BatchSearch:
    if isinstance(found, BatchSearch):
        if found.before is None:
            raise ValueError("there is no bad batch to narrow: all batches were healthy.")
        return found
    if step is None or not callable(step):
        raise TypeError(
            "bisect_samples takes what find_first_bad_batch returned, or a batch and step."
        )
    if model is None and optimizer is None:
        raise TypeError("bisect_samples of a batch needs model= or optimizer=, to put them back.")
    state = SavedTraining(model, optimizer, others)
    trial = Trial(step, model, optimizer)
    return BatchSearch(None, found, None, 0, None, trial, state, state)
