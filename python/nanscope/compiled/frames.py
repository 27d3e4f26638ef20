"""Frames that stand at the lines of the user's program, for ops that are called from elsewhere.

A graph knows for each of its calls which expression of the program it came from. A replay calls
the op through a function whose code says so: file, name, line and columns are those of the
expression. Whoever walks the Python frames (`frames.cc`) then finds the program as it was written.
"""

from __future__ import annotations

import builtins
import re
from functools import lru_cache
from types import CodeType, FunctionType
from typing import NamedTuple

from nanscope.telling.source import keeper

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_LONG, _WITHOUT_COLUMNS = 14, 13  # kinds of entries in a code's table of places: PEP 626, 657
_MOST_UNITS = 8  # of code, in one entry
_RESUMED = re.compile(r"torch_dynamo_resume_in_(.+)_at_\d+$")


class Place(NamedTuple):
    """An expression of the program, in the function that it stands in; columns in bytes."""

    code: CodeType
    file: str
    name: str
    qualname: str
    line: int
    end_line: int
    column: int | None
    end_column: int | None


def _call(*args, **kwargs):
    return _target(*args, **kwargs)  # noqa: F821  # a global of each function made of this


def _method(*args, **kwargs):
    return args[0].__name__(*args[1:], **kwargs)


def calling(target: Callable, places: Sequence[Place], number: int) -> Callable:
    """A function that calls `target` from these places, innermost first."""
    return _around(target, places, _call.__code__, number)


def calling_method(name: str, places: Sequence[Place], number: int) -> Callable:
    """The same for a method of whatever its first argument is."""
    names = tuple(name if each == "__name__" else each for each in _method.__code__.co_names)
    return _around(None, places, _method.__code__.replace(co_names=names), number)


def _around(target: Callable | None, places: Sequence[Place], code: CodeType, number: int):
    for place in places:
        # A compiler that traces it asks for its builtins.
        known = {"_target": target, "__builtins__": builtins.__dict__}
        target = FunctionType(_standing_at(place, code), known)
        code = _call.__code__
    target.__name__ = f"call_{number}"  # torch.fx writes calls by their names
    target.__module__ = __name__
    return target


@lru_cache(maxsize=1 << 16)
def _standing_at(place: Place, code: CodeType) -> CodeType:
    made = code.replace(
        co_filename=place.file,
        co_name=place.name,
        co_qualname=place.qualname,
        co_firstlineno=place.line,
        co_linetable=_table(place, len(code.co_code) // 2),
    )
    keeper.stands_for(made, place.code)
    return made


def _table(place: Place, units: int) -> bytes:
    """All instructions at one place."""
    known = place.column is not None and place.end_column is not None
    kind = _LONG if known else _WITHOUT_COLUMNS
    where = _number(0)  # lines after the first line of the code
    if known:
        where += _number(place.end_line - place.line)
        where += _number(place.column + 1) + _number(place.end_column + 1)
    table = b""
    while units > 0:
        some = min(units, _MOST_UNITS)
        table += bytes([0x80 | kind << 3 | some - 1]) + where
        units -= some
    return table


def _number(value: int) -> bytes:
    digits = []
    while value >= 64:
        digits.append(64 | value & 63)
        value >>= 6
    return bytes([*digits, value])


def places_of(translator: object) -> tuple[Place, ...]:
    """Where the compiler is that reads a function, and where that one was called from."""
    places = []
    while translator is not None:
        code = translator.f_code
        at = getattr(translator.current_instruction, "positions", None)
        line = getattr(at, "lineno", None) or translator.lineno or code.co_firstlineno
        resumed = _RESUMED.match(code.co_name)  # what is left of a function after a graph break
        name = resumed.group(1) if resumed else code.co_name
        places.append(
            Place(
                code=code,
                file=code.co_filename,
                name=name,
                qualname=name if resumed else code.co_qualname,
                line=line,
                end_line=max(getattr(at, "end_lineno", None) or line, line),
                column=getattr(at, "col_offset", None),
                end_column=getattr(at, "end_col_offset", None),
            )
        )
        translator = getattr(translator, "parent", None)
    return tuple(places)
