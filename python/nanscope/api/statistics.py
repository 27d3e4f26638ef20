"""The numbers of an array, under the names that the JSON of a finding uses."""

from __future__ import annotations

from dataclasses import dataclass, field

from nanscope import _core
from nanscope.api.leaves import leaves_or_refusal
from nanscope.findings import Statistics
from nanscope.outside.arrays import array_of, dtype_of, is_array

MOST_INDICES = 8


@dataclass(frozen=True)
class Stats(Statistics):
    """What an array holds.

    Minimum, maximum and mean are over the finite elements, and None where there is none. `indices`
    are the first elements that are not finite (at most eight), `at_index` their values.
    """

    shape: tuple[int, ...]
    numel: int
    indices: tuple[tuple[int, ...], ...] = ()
    at_index: tuple[float | complex, ...] = field(default=())

    @property
    def bad(self) -> int:
        """How many elements are not finite."""
        return self.nan + self.pos_inf + self.neg_inf

    @property
    def ok(self) -> bool:
        return self.bad == 0

    def __str__(self) -> str:
        rows = [
            ("dtype", self.dtype),
            ("shape", str(list(self.shape))),
            *((name, number(getattr(self, name))) for name in ("min", "max", "mean")),
            *(
                (label, _core.grouped(getattr(self, name)))
                for label, name in (
                    ("zeros", "zeros"),
                    ("negatives", "negatives"),
                    ("subnormals", "subnormals"),
                    ("NaN", "nan"),
                    ("+Inf", "pos_inf"),
                    ("-Inf", "neg_inf"),
                )
            ),
            *(
                (f"at {list(i)}", number(v))
                for i, v in zip(self.indices, self.at_index, strict=True)
            ),
        ]
        left = max(len(label) for label, _ in rows)
        right = max(len(self.name), *(len(text) for _, text in rows))
        lines = [f"{'':<{left}}  {self.name:>{right}}"]
        return "\n".join(lines + [f"{label:<{left}}  {text:>{right}}" for label, text in rows])


def stats(x: object, name: str = "x") -> Stats | dict[str, Stats]:
    """The numbers of an array; of a container, those of each array in it, by its path.

    >>> import nanscope
    >>> nanscope.stats(float("inf")).pos_inf
    1
    """
    found = {path: stats_of(leaf, path) for path, leaf in leaves_or_refusal(x, name)}
    return found[name] if is_array(x) else found


def stats_of(leaf: object, name: str) -> Stats:
    array = array_of(leaf, name)
    if array is None:  # strings, dates
        shape = tuple(leaf.shape)
        return Stats(name, dtype_of(leaf), shape, None, None, None, *[0] * 6, numel=leaf.size)
    s = array.statistics()
    indices = array.first_bad(MOST_INDICES) if s.nan or s.pos_inf or s.neg_inf else []
    return Stats(
        name=name,
        dtype=dtype_of(leaf),
        shape=tuple(array.shape),
        numel=s.numel,
        min=s.min,
        max=s.max,
        mean=s.mean,
        zeros=s.zeros,
        negatives=s.negatives,
        subnormals=s.subnormals,
        nan=s.nan,
        pos_inf=s.pos_inf,
        neg_inf=s.neg_inf,
        indices=tuple(tuple(index) for index in indices),
        at_index=tuple(array.value_at(index) for index in indices),
    )


def counted(s: Stats) -> str:
    """`3 of 64 elements: 2 NaN, 1 -Inf`"""
    kinds = [(s.nan, "NaN"), (s.pos_inf, "+Inf"), (s.neg_inf, "-Inf")]
    parts = ", ".join(f"{_core.grouped(count)} {word}" for count, word in kinds if count)
    noun = "element" if s.numel == 1 else "elements"
    return f"{_core.grouped(s.bad)} of {_core.grouped(s.numel)} {noun}: {parts}"


def number(value: float | complex | None) -> str:
    if value is None:
        return "-"
    return str(value) if isinstance(value, complex) else _core.number(value)
