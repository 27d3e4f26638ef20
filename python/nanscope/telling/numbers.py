"""Does the text of the program spell the NaN or the infinity that an op is given now?"""

from __future__ import annotations

import dis
import math
import sys
from types import ModuleType

from nanscope.telling.constants import WORDS, constants_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType, FrameType

    Kinds = frozenset[str]

_MOST_FRAMES = 12
_MOST_LINES = 4096
_NAMES = ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE", "LOAD_CLASSDEREF")
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")


def spells(is_user_code: Callable[[str], bool], nan: int, pos_inf: int, neg_inf: int) -> bool:
    """A constant of that kind stands in the line, or a name that only ever means one: of torch's
    frames too, down to the program's own, and to the callers of a function that was given it.
    """
    asked = zip(("nan", "pos_inf", "neg_inf"), (nan, pos_inf, neg_inf), strict=True)
    kinds = frozenset(kind for kind, wanted in asked if wanted)
    frame: FrameType | None = sys._getframe(1)
    for _ in range(_MOST_FRAMES):
        if frame is None:
            return False
        line = _on_the_line(frame)
        if any(_is_constant(name, value, frame, kinds) for name, value in line):
            return True
        if is_user_code(frame.f_code.co_filename) and not _uses_a_parameter(line, frame.f_code):
            return False
        frame = frame.f_back
    return False


_lines: dict[tuple[int, int], tuple[CodeType, list[tuple[str, object]]]] = {}


def _on_the_line(frame: FrameType) -> list[tuple[str, object]]:
    """The instructions of the line that load names and constants, and what they load.

    Disassembled once: the code is kept, so that no other gets its address.
    """
    code = frame.f_code
    key = (id(code), frame.f_lasti)
    known = _lines.get(key)
    if known is None:
        if len(_lines) >= _MOST_LINES:
            _lines.clear()
        known = _lines[key] = (code, list(_disassembled(code, frame.f_lasti)))
    return known[1]


def _disassembled(code: CodeType, offset: int) -> Iterator[tuple[str, object]]:
    first, last = _lines_at(code, offset)
    for instruction in dis.get_instructions(code):
        line = instruction.positions.lineno if instruction.positions else None
        if line is None or not first <= line <= last:
            continue
        value = instruction.argval
        # From Python 3.13 on one instruction loads two locals.
        for one in value if isinstance(value, tuple) and _loads_names(instruction) else (value,):
            if one is not None:
                yield instruction.opname, one


def _loads_names(instruction: dis.Instruction) -> bool:
    return instruction.opname.startswith("LOAD_FAST")


def _is_name(operation: str) -> bool:
    return operation.startswith(_NAMES)


def _lines_at(code: CodeType, offset: int) -> tuple[int, int]:
    positions = list(code.co_positions())
    first, last, *_ = positions[offset // 2] if offset // 2 < len(positions) else (None, None)
    return (first or 0, last or first or 0)


def _uses_a_parameter(line: list[tuple[str, object]], code: CodeType) -> bool:
    count = code.co_argcount + code.co_kwonlyargcount
    parameters = code.co_varnames[:count]
    return any(_is_name(operation) and value in parameters for operation, value in line)


def _is_constant(operation: str, value: object, frame: FrameType, kinds: Kinds) -> bool:
    if isinstance(value, str) and _is_name(operation):
        return _is_constant_name(value, frame, kinds)
    if isinstance(value, str) and operation.startswith(_ATTRIBUTES):
        return _is_word(value, kinds) or _is_constant_attribute(value, frame, kinds)
    return _is_number(value, kinds)


def _is_number(value: object, kinds: Kinds) -> bool:
    if isinstance(value, str):
        return _is_word(value, kinds)
    if isinstance(value, (tuple, frozenset)):
        return any(_is_number(item, kinds) for item in value)
    if not isinstance(value, float) or math.isfinite(value):
        return False
    return "nan" in kinds if math.isnan(value) else kinds != {"nan"}


def _is_word(value: str, kinds: Kinds) -> bool:
    word = value.strip("+-_ ").lower()
    return any(word in WORDS[kind] for kind in kinds)


def _is_constant_name(name: str, frame: FrameType, kinds: Kinds) -> bool:
    """The file gives it nothing else; or it was imported, and is such a number."""
    known = constants_of(frame.f_code.co_filename, frame.f_globals)
    if name in known.assigned:
        return known.is_constant(name, kinds)
    if name in known.imported:
        return _is_float(frame.f_globals.get(name), kinds)
    return not known.read and _is_word(name, kinds)


def _is_constant_attribute(name: str, frame: FrameType, kinds: Kinds) -> bool:
    known = constants_of(frame.f_code.co_filename, frame.f_globals)
    if name in known.assigned:
        return known.is_constant(name, kinds)
    modules = (vars(value) for value in list(frame.f_globals.values()) if type(value) is ModuleType)
    return any(_is_float(variables.get(name), kinds) for variables in modules)


def _is_float(value: object, kinds: Kinds) -> bool:
    return isinstance(value, float) and _is_number(value, kinds)
