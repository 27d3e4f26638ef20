"""`check`: a value, or an error that says what is wrong with it and where."""

from __future__ import annotations

from typing import Literal, TypeVar

from nanscope import _core
from nanscope.api.leaves import leaves_or_refusal
from nanscope.api.statistics import Stats, counted, number, stats_of
from nanscope.errors import CheckFailed
from nanscope.outside.arrays import array_of, is_plainly_finite

T = TypeVar("T")
SHOWN = 3  # failing elements in a message


def check(x: T, name: str = "x", *, probabilities: bool | Literal["allow_zeros"] = False) -> T:
    """Returns `x`, or raises `CheckFailed` if there is a NaN or Inf in it.

    `x` is a tensor, an array of NumPy, JAX or anything with DLPack, a number, or a nest of dicts,
    lists, tuples, dataclasses and model outputs of them. With `probabilities` also negative
    numbers, zeros (their log is -inf; "allow_zeros" for those who mean them) and rows that do not
    sum to one are errors.

    >>> import nanscope
    >>> nanscope.check([0.5, 0.25], "weights")
    [0.5, 0.25]
    """
    if not probabilities and is_plainly_finite(x):
        return x
    for path, leaf in leaves_or_refusal(x, name):
        array = array_of(leaf, path)
        if array is not None and not array.all_finite():
            raise _not_finite(stats_of(leaf, path))
        if array is not None and probabilities and _core.is_floating_type(array.dtype):
            _require_probabilities(array, leaf, path, probabilities != "allow_zeros")
    return x


def _not_finite(s: Stats) -> CheckFailed:
    lines = [f"{s.name} is not finite: {counted(s)}", *_numbers(s)]
    return CheckFailed("\n".join(lines), s.name, s)


def _numbers(s: Stats) -> list[str]:
    shown = list(zip(s.indices, s.at_index, strict=True))[:SHOWN]
    at = ", ".join(
        f"{list(index)} is {number(value)}" if index else f"its value is {number(value)}"
        for index, value in shown
    )
    finite = f"largest {number(s.max)}, least {number(s.min)}, mean {number(s.mean)}"
    return [
        f"  dtype   {s.dtype}, shape {list(s.shape)}",
        *([f"  first   {at}"] if at else []),
        f"  finite  {finite}" if s.max is not None else "  finite  nothing",
    ]


def _require_probabilities(array: _core.Array, leaf: object, path: str, no_zeros: bool) -> None:
    s = stats_of(leaf, path)
    sums = array.row_sums()
    wrong = []
    if s.negatives:
        wrong.append(f"{_elements(s.negatives)} below 0, the least {number(s.min)}")
    if s.zeros and no_zeros:
        wrong.append(f"{_elements(s.zeros)} exactly 0, whose log is -inf")
    if sums.off:
        row = f"row {list(sums.first)}" if sums.first else "they"
        wrong.append(
            f"{_core.grouped(sums.off)} of {_core.grouped(sums.rows)} rows "
            f"{'does' if sums.off == 1 else 'do'} not sum to 1: {row} "
            f"{'sums' if sums.first else 'sum'} to {number(sums.sum)}"
        )
    if wrong:
        lines = [f"{path} holds no probabilities: {'; '.join(wrong)}", *_numbers(s)]
        raise CheckFailed("\n".join(lines), path, s)


def _elements(count: int) -> str:
    return f"{_core.grouped(count)} {'element is' if count == 1 else 'elements are'}"
