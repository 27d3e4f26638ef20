"""The batches that data loaders fetch, in the process that fetches them: which samples of the data.

A value that comes in remembers how many batches there were, so that the samples of its own batch
are told, whenever it does harm.
"""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MOST_BATCHES = 64


class Batch(NamedTuple):
    dataset: object
    samples: list  # their keys, in the order of the batch

    def sample(self, row: int, rows: int | None) -> str | None:
        """A sentence about the sample in this row of so many rows, if they are the samples."""
        if row >= len(self.samples) or (rows is not None and rows != len(self.samples)):
            return None
        dataset, key = self.dataset, self.samples[row]
        whence = [f"it is sample {key} of {_name(dataset)}"]
        while (step := _one_in(dataset, key)) is not None:
            dataset, key = step
            whence.append(f"which is sample {key} of {_name(dataset)}")
        return ", ".join(whence)


class Loaders:
    """Those of this process; a worker has its own."""

    def __init__(self) -> None:
        self.count = 0
        self.batches: dict[int, Batch] = {}
        self.report: Callable[[int], object] | None = None

    def fetches(self, fetcher: object, samples: object) -> None:
        """A loader is about to fetch these samples of a dataset that has keys."""
        self.count += 1
        keys = samples if isinstance(samples, list) else [samples]
        self.batches[self.count] = Batch(getattr(fetcher, "dataset", None), keys)
        self.batches.pop(self.count - MOST_BATCHES, None)
        if self.report is not None:
            self.report(self.count)

    def sample(self, batch: int, row: int | None, rows: int | None) -> str | None:
        """A sentence about the sample in this row of a batch of so many rows.

        `rows` None: `row` counts the samples as they were fetched.
        """
        found = self.batches.get(batch)
        return found.sample(row, rows) if found is not None and row is not None else None


def _name(dataset: object) -> str:
    return f"the dataset ({type(dataset).__name__})"


def _one_in(dataset: object, key: object) -> tuple[object, object] | None:
    """The same sample in what a Subset or a ConcatDataset is made of."""
    kind = type(dataset).__name__
    module = type(dataset).__module__
    if not module.startswith("torch.utils.data") or not isinstance(key, int):
        return None
    try:
        if kind == "Subset":
            return dataset.dataset, int(dataset.indices[key])
        if kind == "ConcatDataset":
            from bisect import bisect_right

            which = bisect_right(dataset.cumulative_sizes, key)
            before = dataset.cumulative_sizes[which - 1] if which else 0
            return dataset.datasets[which], key - before
    except (AttributeError, IndexError, TypeError, ValueError):
        pass
    return None
