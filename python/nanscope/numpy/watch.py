"""`numpy_errors`: the first NumPy operation that made a NaN or Inf, with its operands and why.

NumPy looks at the processor's floating-point flags after each operation; its errstate tells the
kind and no more. Here its report is the moment to look: the frame that ran the operation still
holds the operands.
"""

from __future__ import annotations

import json
import re
import sys
from contextlib import ContextDecorator
from typing import Literal

from nanscope import _core
from nanscope.api.arrays import array_of
from nanscope.errors import NonFiniteError, Unreadable
from nanscope.findings import Finding
from nanscope.numpy import operands
from nanscope.numpy.poison import Poison
from nanscope.run.ending import say
from nanscope.telling import source
from nanscope.telling.stack import split_stack
from nanscope.telling.story import Storyteller

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

MESSAGE = re.compile(r"Warning: (.*) encountered in (?:scalar )?(\w+)")
MADE = {"divide by zero": float("inf"), "overflow": float("inf"), "invalid value": float("nan")}
ARGUMENTS = {"power": ("self", "exponent"), "float_power": ("self", "exponent")}
# Called again with the same operands to see the result: NumPy's own, without any effect.
REDUCTIONS = frozenset("sum mean prod std var cumsum cumprod dot matmul inner outer trace".split())
MOST_INDICES = 8


class NumpyErrors(ContextDecorator):
    """A block in which NumPy's first NaN or Inf is named; `finding` is it, or None."""

    def __init__(
        self, on_find: Literal["raise", "report"] | Callable[[Finding], object] = "raise"
    ) -> None:
        if not callable(on_find) and on_find not in ("raise", "report"):
            raise ValueError(f'on_find is "raise", "report" or a function, not {on_find!r}.')
        self.on_find = on_find
        self.finding: Finding | None = None
        self._teller = Storyteller(None, None)
        self._entered: list = []

    def __enter__(self) -> NumpyErrors:
        import numpy

        if _active:
            raise RuntimeError("numpy_errors() is already on: one block at a time.")
        _active.append(self)
        self.finding = None
        self._poison = Poison()
        state = numpy.errstate(
            divide="log", invalid="log", over="log", under="ignore", call=_Log(self)
        )
        state.__enter__()
        self._entered.append(state)
        self._poison.begin()
        return self

    def __exit__(self, *error: object) -> None:
        self._poison.end()
        self._entered.pop().__exit__(*error)
        _active.remove(self)

    def take_report(self, message: str, frame: FrameType) -> None:
        if self.finding is not None:
            return
        import numpy

        try:
            with numpy.errstate(all="ignore"):  # our own work is none of its business
                text, self.finding = self._describe(message, frame)
        except Exception as error:
            say(f"nanscope could not describe a NumPy error, a fault of its own: {error!r}")
            return
        if callable(self.on_find):
            self.on_find(self.finding)
        elif self.on_find == "raise":
            raise NonFiniteError(text, self.finding)
        else:
            say(text)

    # ----------------------------------------------------------------------- the finding
    def _describe(self, message: str, frame: FrameType) -> tuple[str, Finding]:
        kind, name = MESSAGE.match(message).groups()
        frames = _outwards(frame)
        pairs = [(f.f_code, f.f_lasti) for f in frames]
        own, _ = split_stack(pairs)
        own = own or 0
        site = source.locate(*pairs[own])
        read = operands.read(site.expression, frames[own])
        if read.function is not None and (own > 0 or name in ("reduce", "accumulate")):
            name = read.function  # what the user called; NumPy names the loop inside
        facts = self._facts(name, kind, read)
        facts["site"] = self._teller.fields_of(site)
        facts["stack"] = self._teller.stack_of(pairs)
        self._blame_memory(facts, read, name)
        as_json, text = _core.tell(facts)
        return text, Finding.from_json(json.loads(as_json))

    def _facts(self, name: str, kind: str, read: operands.Expression) -> dict:
        result, index = _result(name, read)
        names = ARGUMENTS.get(name, ("self", "other"))
        inputs = []
        for i, given in enumerate(read.operands):
            if not operands.is_numeric(given.value):
                continue
            fact = _tensor(given.text, names[i] if i < len(names) else "", given.value, "")
            if fact is not None:
                fact["at_index"] = _values_at(given.value, result, index)
                inputs.append(fact)
        outputs = [_tensor("", "", result, "")] if result is not None else []
        value = _scalar(result, index[0]) if index else MADE.get(kind, float("nan"))
        came_in = any(_is_bad(v) for fact in inputs for v in fact["at_index"][:1])
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

    def _blame_memory(self, facts: dict, read: operands.Expression, name: str) -> None:
        """An operand that np.empty gave and nobody wrote: its allocation is the origin."""
        for given in read.operands:
            found = self._poison.place_of(given.value)
            if found is None:
                continue
            (code, offset), index = found
            facts["read_by"] = [{"op": facts["op"], "site": facts["site"]}]
            facts["site"] = self._teller.fields_of(source.locate(code, offset))
            facts["op"], facts["kind"] = "numpy::empty", "uninitialised"
            facts["indices"], facts["value"] = [list(index)], float("nan")
            facts["outputs"] = [_tensor(given.text, "", given.value, "")]
            return


class _Log:
    """What NumPy writes its reports to; the frame below `write` is the one that ran the op."""

    def __init__(self, owner: NumpyErrors) -> None:
        self.owner = owner

    def write(self, message: str) -> None:
        self.owner.take_report(message, sys._getframe(1))


_active: list[NumpyErrors] = []


def numpy_errors(
    on_find: Literal["raise", "report"] | Callable[[Finding], object] = "raise",
) -> NumpyErrors:
    """A block (or decorator) in which NumPy's first NaN or Inf is named.

    "raise" raises `NonFiniteError` at its line; "report" prints it to stderr and goes on; a
    callable is given the finding. Memory from `np.empty` is filled with signalling NaNs, so that
    reading it unwritten is found too.
    """
    return NumpyErrors(on_find)


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


def _is_bad(value: object) -> bool:
    return value is not None and value - value != 0


def _tensor(name: str, argument: str, value: object, remark: str) -> dict | None:
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
