"""What functions that read files brought in: which of them gave a NaN or Inf, in which row, column.

Each stands in for the reader as a C function; what it read is looked at once, which costs less than
the reading. A stand-in adds no frame and changes nothing of the result.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from nanscope import _core
from nanscope.errors import Unreadable
from nanscope.outside.arrays import array_of
from nanscope.telling import source
from nanscope.telling.stack import display_path, is_user_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    Found = tuple[str, int, int, list[int]]  # a name, NaNs, Infs, the first of them

NUMPY = ("load", "loadtxt", "genfromtxt", "fromfile")
PANDAS = ("read_csv", "read_table", "read_fwf", "read_excel", "read_parquet", "read_feather")
MOST_READS = 16
MOST_LEAVES = 10_000


@dataclass
class Read:
    """One that brought something bad."""

    text: str
    nan: int
    inf: int


class Readers:
    def __init__(self, main_file: str | None = None) -> None:
        self.main_file = main_file
        self.reads: list[Read] = []

    # ---------------------------------------------------------------- stand-ins
    def of_numpy(self, numpy: ModuleType) -> None:
        self._stand_in(numpy, NUMPY, _in_array)
        archive = getattr(getattr(numpy.lib, "npyio", None), "NpzFile", None)
        if archive is not None:
            after = self._after("`numpy.load` (an npz file)", _in_array)
            original = archive.__getitem__
            archive.__getitem__ = _AsMethod(_core.Around(original, after=after))

    def of_pandas(self, pandas: ModuleType) -> None:
        self._stand_in(pandas, PANDAS, _in_frame)

    def of_torch(self, torch: ModuleType) -> None:
        self._stand_in(torch, ("load",), _in_nest)

    def _stand_in(self, module: ModuleType, names: tuple[str, ...], look: Callable) -> None:
        for name in names:
            original = getattr(module, name, None)
            if original is not None:
                after = self._after(f"`{module.__name__}.{name}`", look)
                setattr(module, name, _core.Around(original, after=after))

    def _after(self, name: str, look: Callable[[object], Iterator[Found]]) -> Callable:
        def was_read(result: object) -> object:
            try:
                self._note(name, list(look(result)))
            except Exception:
                pass  # a kind that is not known: nothing is said of it
            return result

        return was_read

    # ---------------------------------------------------------------- what they brought
    def _note(self, name: str, found: list[Found]) -> None:
        if not found or len(self.reads) >= MOST_READS:
            return
        first, nan, inf, at = found[0]
        place = self._caller()
        inside = f" in {first}" if first else ""
        what = " and ".join(
            f"{count} {word}" for count, word in ((nan, "nan"), (inf, "inf")) if count
        )
        text = f"{name}{place} read {what}{inside}, the first {_position(at)}"
        self.reads.append(Read(text, sum(f[1] for f in found), sum(f[2] for f in found)))

    def _caller(self) -> str:
        frame = sys._getframe(2)
        while frame is not None:
            name = frame.f_code.co_filename
            if is_user_code(name, self.main_file) and not name.startswith("<frozen"):
                site = source.locate(frame.f_code, frame.f_lasti)
                return f" at {display_path(name)}:{site.line}"
            frame = frame.f_back
        return ""

    def sentences(self, nan: bool) -> list[str]:
        """About those that may have brought such a value, the last first."""
        fitting = [read for read in self.reads if (read.nan if nan else read.inf)]
        return [read.text for read in reversed(fitting)][:3]


class _AsMethod:
    def __init__(self, function) -> None:
        self.function = function

    def __get__(self, instance, owner=None):
        from types import MethodType

        return self.function if instance is None else MethodType(self.function, instance)


def _position(at: list[int]) -> str:
    if len(at) == 2:
        return f"in row {at[0]}, column {at[1]}"
    return f"at {at}" if at else "in its only element"


def _in_array(array: object, name: str = "") -> Iterator[Found]:
    numpy = sys.modules["numpy"]
    if not isinstance(array, numpy.ndarray) or isinstance(array, numpy.memmap):
        return  # a mapped file is read where it is used
    if array.dtype.names:
        for field in array.dtype.names:
            yield from _in_array(array[field], f"column `{field}`")
        return
    yield from _in_numbers(array, name)


def _in_numbers(array: object, name: str) -> Iterator[Found]:
    try:
        seen = array_of(array, name)
    except Unreadable:
        return
    if seen is None:
        return
    bad = seen.first_bad(1)
    if bad:
        facts = seen.statistics()
        yield name, facts.nan, facts.pos_inf + facts.neg_inf, list(bad[0])


def _in_frame(frame: object) -> Iterator[Found]:
    for name, column in getattr(frame, "items", lambda: ())():
        if getattr(getattr(column, "dtype", None), "kind", "") in "fc":
            yield from _in_numbers(column.to_numpy(), f"column `{name}`")


def _in_nest(value: object, name: str = "", left: list[int] | None = None) -> Iterator[Found]:
    left = [MOST_LEAVES] if left is None else left
    left[0] -= 1
    if left[0] < 0:
        return
    torch = sys.modules["torch"]
    if isinstance(value, torch.Tensor):
        if value.is_floating_point() or value.is_complex():
            yield from _in_numbers(value.detach(), name)
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _in_nest(one, f"{name}[{key!r}]", left)
    elif isinstance(value, (list, tuple)):
        for i, one in enumerate(value):
            yield from _in_nest(one, f"{name}[{i}]", left)
