"""What the instructions of one line load: names, attributes, constants."""

from __future__ import annotations

import dis
from dataclasses import dataclass
from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

_MOST_LINES = 4096
_NAMES = ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE", "LOAD_CLASSDEREF")
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")
_CONSTANTS = ("LOAD_CONST", "RETURN_CONST")
_CALLS = ("PRECALL", "CALL")
_NOTHING = ("PUSH_NULL", "CACHE", "NOP", "EXTENDED_ARG")


@dataclass(frozen=True)
class Loaded:
    """One of them. `before`: the names that were loaded just before it, `("np",)` of `np.nan`; of a
    constant, those of the function that is called with it.
    """

    kind: str  # name, attribute, constant
    value: object
    before: tuple[str, ...] = ()


_lines: dict[tuple[int, int], tuple[CodeType, list[Loaded]]] = {}


def on_the_line(code: CodeType, offset: int) -> list[Loaded]:
    """Of all instructions of the line to which the one at this offset belongs.

    Disassembled once: the code is kept, so that no other gets its address.
    """
    key = (id(code), offset)
    known = _lines.get(key)
    if known is None:
        if len(_lines) >= _MOST_LINES:
            _lines.clear()
        known = _lines[key] = (code, list(_disassembled(code, offset)))
    return known[1]


def _disassembled(code: CodeType, offset: int) -> Iterator[Loaded]:
    first, last = _lines_at(code, offset)
    chain: tuple[str, ...] = ()
    for instruction, following in pairwise([*_instructions(code, first, last), None]):
        operation, value = instruction.opname, instruction.argval
        before, chain = chain, ()
        if operation.startswith(_NAMES):
            # From Python 3.13 on one instruction loads two locals.
            names = value if isinstance(value, tuple) else (value,)
            yield from (Loaded("name", name) for name in names)
            chain = names[-1:]
        elif operation.startswith(_ATTRIBUTES):
            yield Loaded("attribute", value, before)
            chain = (*before, value)
        elif operation in _CONSTANTS:
            called = (
                following is not None
                and following.opname.startswith(_CALLS)
                and following.arg == 1  # the constant alone is given
            )
            yield Loaded("constant", value, before if called else ())


def _instructions(code: CodeType, first: int, last: int) -> Iterator[dis.Instruction]:
    for instruction in dis.get_instructions(code):
        line = instruction.positions.lineno if instruction.positions else None
        if line is not None and first <= line <= last and instruction.opname not in _NOTHING:
            yield instruction


def _lines_at(code: CodeType, offset: int) -> tuple[int, int]:
    positions = list(code.co_positions())
    first, last, *_ = positions[offset // 2] if offset // 2 < len(positions) else (None, None)
    return (first or 0, last or first or 0)
