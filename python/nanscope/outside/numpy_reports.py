"""From one report of NumPy to a record: which operation, on which operands, with which result."""

from __future__ import annotations

import re

from nanscope import _core
from nanscope.errors import Unreadable
from nanscope.outside import numpy_operands as operands
from nanscope.outside.arrays import array_of
from nanscope.telling import source
from nanscope.telling.stack import split_stack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

    from nanscope.telling.story import Storyteller

MESSAGE = re.compile(r"(?:Warning: )?(.*) encountered in (?:scalar )?(\w+)")
MADE = {"divide by zero": float("inf"), "overflow": float("inf"), "invalid value": float("nan")}
ARGUMENTS = {"power": ("self", "exponent"), "float_power": ("self", "exponent")}
# Called again with the same operands to see the result: NumPy's own, without any effect.
REDUCTIONS = frozenset("sum mean prod std var cumsum cumprod dot matmul inner outer trace".split())
MOST_INDICES = 8
MOST_ITEMS = 100_000


def describe(
    message: str, frame: FrameType, teller: Storyteller
) -> tuple[dict, operands.Expression]:
    """The record of one report of NumPy, and the expression it was made from."""
    kind, name = MESSAGE.match(message).groups()
    frames = _outwards(frame)
    pairs = [(f.f_code, f.f_lasti) for f in frames]
    own, _ = split_stack(pairs, teller.main_file)
    own = own or 0
    site = source.locate(*pairs[own])
    read = operands.read(site.expression, frames[own])
    if read.function is not None and (own > 0 or name in ("reduce", "accumulate")):
        name = read.function  # what the user called; NumPy names the loop inside
    read = read._replace(operands=[_as_array(given) for given in read.operands])
    facts = _facts(name, kind, read)
    facts["site"] = teller.fields_of(site)
    facts["stack"] = teller.stack_of(pairs)
    return facts, read


def _facts(name: str, kind: str, read: operands.Expression) -> dict:
    result, index = _result(name, read)
    names = ARGUMENTS.get(name, ("self", "other"))
    inputs = []
    for i, given in enumerate(read.operands):
        if not operands.is_numeric(given.value):
            continue
        fact = tensor(given.text, names[i] if i < len(names) else "", given.value, "")
        if fact is not None:
            fact["at_index"] = _values_at(given.value, result, index)
            inputs.append(fact)
    outputs = [tensor("", "", result, "")] if result is not None else []
    value = _scalar(result, index[0]) if index else MADE.get(kind, float("nan"))
    came_in = any(_is_bad(v) for fact in inputs for v in fact["at_index"][:1])
    if not index:  # which element it was is not known
        came_in = any(_holds_bad(fact) for fact in inputs)
    return {
        "op": f"numpy::{name}",
        "kind": "imported" if came_in else "birth",
        "indices": index,
        "value": value,
        "inputs": inputs,
        "outputs": [fact for fact in outputs if fact is not None],
        "read_by": [],
        "flag": kind,
    }


def _as_array(given: operands.Operand) -> operands.Operand:
    """A list of plain numbers as NumPy took it."""
    import numpy

    value = given.value
    if type(value) not in (list, tuple) or len(value) > MOST_ITEMS:
        return given
    if not all(type(item) in (int, float, bool) for item in value):
        return given
    return given._replace(value=numpy.asarray(value, dtype=float))


def _outwards(frame: FrameType | None) -> list[FrameType]:
    frames = []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return frames


def _result(name: str, read: operands.Expression) -> tuple[object | None, list[list[int]]]:
    """The result of the operation, and its elements that are not finite."""
    import numpy

    kept = [given.result for given in read.operands if operands.is_array(given.result)]
    result = kept[0] if kept else _computed_again(name, read)
    if result is None or not _core.is_readable_type(result.dtype.name):
        return None, []
    result = numpy.asarray(result)
    values = [given.value for given in read.operands if operands.is_numeric(given.value)]
    bad = array_of(result, "").first_bad(MOST_INDICES)
    return result, _births_first(bad, values, result)


def _computed_again(name: str, read: operands.Expression):
    """By NumPy's own function, of numbers and plain arrays: that has no effect but its result."""
    import warnings

    import numpy

    values = [given.value for given in read.operands]
    function = getattr(numpy, name, None)
    if read.function == "astype" and len(values) == 2 and isinstance(values[1], type):
        function = numpy.ndarray.astype
        known = operands.is_array(values[0]) and issubclass(values[1], numpy.generic)
    else:
        is_ufunc = isinstance(function, numpy.ufunc) and len(values) == function.nin
        known = (is_ufunc or name in REDUCTIONS) and all(map(operands.is_numeric, values))
    if not known or not read.plain or not values:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return numpy.asarray(function(*values))
    except (ArithmeticError, TypeError, ValueError):
        return None


def _births_first(bad: list[list[int]], values: list, result) -> list[list[int]]:
    """Elements whose operands are finite come first: there it was made."""
    return sorted(bad, key=lambda index: any(_is_bad(_pick(v, result, index)) for v in values))


def _pick(value: object, result, index: list[int]) -> object:
    import numpy

    try:
        return numpy.broadcast_to(value, result.shape)[tuple(index)]
    except ValueError:
        return None  # a reduction: no element of the operand is that of the result


def _values_at(value: object, result, index: list[list[int]]) -> list[float | complex]:
    picked = [_pick(value, result, one) for one in index]
    return [_plain(v) for v in picked if v is not None]


def _plain(value) -> float | complex:
    return complex(value) if isinstance(value, complex) or value.dtype.kind == "c" else float(value)


def _scalar(result, index: list[int]) -> float | complex:
    return _plain(result[tuple(index)])


def _holds_bad(fact: dict) -> bool:
    seen = fact["statistics"]
    return seen.nan + seen.pos_inf + seen.neg_inf > 0


def _is_bad(value: object) -> bool:
    return value is not None and value - value != 0


def tensor(name: str, argument: str, value: object, remark: str) -> dict | None:
    import numpy

    array = numpy.asarray(value)
    try:
        seen = array_of(array, name)
    except Unreadable:
        return None
    if seen is None:
        return None
    return {
        "name": name,
        "argument": argument,
        "dtype": seen.dtype,
        "shape": list(seen.shape),
        "statistics": seen.statistics(),
        "at_index": [],
        "remark": remark,
    }
