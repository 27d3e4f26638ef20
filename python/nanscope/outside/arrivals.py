"""Whence a value came that no operation of torch made: asked when it did harm, by the adapter."""

from __future__ import annotations

import sys
from typing import NamedTuple

from nanscope.outside.loaders import Loaders
from nanscope.outside.numpy_births import NumpyBirths
from nanscope.outside.readers import Readers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    Answer = dict[str, object]

BY_NUMPY = (
    "torch was given {} that none of its operations made; this is the NumPy operation of the "
    "program that made such a value before"
)


class Arrival(NamedTuple):
    """A value as it came in; the fields are those of the adapter's question."""

    nan: bool
    number: bool  # a Python number, no memory
    births: int  # how often NumPy had made something bad by then
    batch: int  # how many batches a loader had fetched by then
    item: int  # its place in a list of tensors; -1: it is in none
    shape: list[int]
    index: list[int]  # of the first bad element


class Arrivals:
    """What is known of this process beside torch."""

    def __init__(self) -> None:
        self.births = NumpyBirths()
        self.loaders = Loaders()
        self.readers = Readers()
        self.other_processes = False  # it has begun others, or is one
        self.regions_unseen: Callable[[], bool] = lambda: False  # compiled, and not looked at

    def begin(self, main_file: str | None) -> None:
        """Before the program runs."""
        self.births.teller.main_file = self.readers.main_file = main_file

    def numpy_imported(self, numpy: ModuleType) -> None:
        self.births.begin(numpy)
        self.readers.of_numpy(numpy)

    def connect(self, adapter: ModuleType) -> None:
        """Torch is there."""
        self.births.report, self.loaders.report = adapter.numpy_births, adapter.batches_fetched
        adapter.numpy_births(self.births.count)

    def whence(self, *given: object) -> Answer | None:
        """`made`: the operation that made it; `unwatched`: why it may be somebody's else;
        `arrival`: sentences; `likely`: that, and no more.
        """
        value = Arrival(*given)
        made = self.births.origin_of(value.nan, value.births)
        arrival = [] if value.number else self._place_in_data(value)
        brought = [] if value.number else self.readers.sentences(value.nan)
        if made is not None:
            arrival.append(BY_NUMPY.format("nan" if value.nan else "inf"))
        unwatched = None if made is not None or brought else self._unwatched()
        unsure = made is not None or unwatched is not None
        likely = unsure or self.other_processes or _is_rank()
        if self.other_processes and made is None:
            arrival.append(
                "other processes of this run may have handed it over; none of them told of it"
            )
        return {
            "made": made,
            "unwatched": unwatched or "",
            "arrival": arrival + brought,
            "likely": likely,
        }

    def _unwatched(self) -> str | None:
        """What runs in this process without our eyes, and may have made it."""
        if self.regions_unseen():
            return "a compiled region may have made it: torch.compile fuses operations into its own"
        return None

    def _place_in_data(self, value: Arrival) -> list[str]:
        sentences = []
        if value.item >= 0:
            sample = self.loaders.sample(value.batch, value.item, None)
        elif len(value.shape) > 1 and value.index:
            sample = self.loaders.sample(value.batch, value.index[0], value.shape[0])
        else:
            sample = None
        if sample:
            sentences.append(sample)
        is_table = len(value.shape) == 2 and len(value.index) == 2
        if is_table or (value.item >= 0 and len(value.shape) == 1 and value.index):
            sentences.append(f"it is in column {value.index[-1]} of {value.shape[-1]}")
        return sentences


def _is_rank() -> bool:
    """Other ranks may send tensors in objects, whose bytes no collective shows."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return False
    return distributed.get_world_size() > 1


arrivals = Arrivals()  # of this process, as its NumPy and its torch are
