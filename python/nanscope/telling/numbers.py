"""Does the text of the program spell the NaN or the infinity that an op is given now, and if not,
where does the name that brought it get its value?
"""

from __future__ import annotations

import math
import sys
from types import ModuleType

from nanscope.telling.constants import WORDS, assigned_at, constants_of
from nanscope.telling.loaded import Loaded, on_the_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType

    Kinds = frozenset[str]

_MOST_FRAMES = 12
# They make no number of a word.
_NOT_NUMBERS = frozenset({"print", "getattr", "hasattr", "setattr", "len", "repr", "str"})


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
        line = on_the_line(frame.f_code, frame.f_lasti)
        if any(_is_constant(loaded, frame, kinds) for loaded in line):
            return True
        if is_user_code(frame.f_code.co_filename) and not _uses_a_parameter(line, frame.f_code):
            return False
        frame = frame.f_back
    return False


def given_at(is_user_code: Callable[[str], bool]) -> list[tuple[str, int]]:
    """The lines of the program on which the names of this line get their values, and those of what
    they are computed of: file and line of each.
    """
    found: list[tuple[str, int]] = []
    frame: FrameType | None = sys._getframe(1)
    for _ in range(_MOST_FRAMES):
        if frame is None:
            break
        if is_user_code(frame.f_code.co_filename):
            line = on_the_line(frame.f_code, frame.f_lasti)
            names = {loaded.value for loaded in line if isinstance(loaded.value, str)}
            file = frame.f_code.co_filename
            found += [(file, number) for number in assigned_at(file, frame.f_globals, names)]
            if not _uses_a_parameter(line, frame.f_code):
                break
        frame = frame.f_back
    return found


def _uses_a_parameter(line: list[Loaded], code: CodeType) -> bool:
    count = code.co_argcount + code.co_kwonlyargcount
    parameters = code.co_varnames[:count]
    return any(loaded.kind == "name" and loaded.value in parameters for loaded in line)


def _is_constant(loaded: Loaded, frame: FrameType, kinds: Kinds) -> bool:
    if loaded.kind == "name":
        return _is_constant_name(loaded.value, frame, kinds)
    if loaded.kind == "attribute":
        return _is_constant_attribute(loaded, frame, kinds)
    if isinstance(loaded.value, str):
        return _is_word(loaded.value, kinds) and _makes_a_number(loaded.before, frame)
    return _is_number(loaded.value, kinds)


def _is_number(value: object, kinds: Kinds) -> bool:
    if isinstance(value, (tuple, frozenset)):
        return any(_is_number(item, kinds) for item in value)
    if not isinstance(value, float) or math.isfinite(value):
        return False
    return "nan" in kinds if math.isnan(value) else kinds != {"nan"}


def _is_word(value: str, kinds: Kinds) -> bool:
    word = value.strip("+-_ ").lower()
    return any(word in WORDS[kind] for kind in kinds)


def _makes_a_number(function: tuple[str, ...], frame: FrameType) -> bool:
    """float("nan"), np.float32("nan"); not a["nan"], nor a.get("nan")."""
    if len(function) == 1:
        return function[0] not in _NOT_NUMBERS
    return len(function) > 1 and _owner(function[:-1], frame) is not None


def _is_constant_name(name: str, frame: FrameType, kinds: Kinds) -> bool:
    """The file gives it nothing else; or it was imported, and is such a number."""
    known = constants_of(frame.f_code.co_filename, frame.f_globals)
    if name in known.assigned:
        return known.is_constant(name, kinds)
    if name in known.imported:
        return _is_float(frame.f_globals.get(name), kinds)
    return not known.read and _is_word(name, kinds)


def _is_constant_attribute(loaded: Loaded, frame: FrameType, kinds: Kinds) -> bool:
    """The file gives it nothing else; or it is such a number of a module or a class."""
    known = constants_of(frame.f_code.co_filename, frame.f_globals)
    owner = _owner(loaded.before, frame)
    is_set_here = (*loaded.before[-1:], loaded.value) in known.attributes
    if isinstance(owner, ModuleType) and not is_set_here:
        return _is_float(vars(owner).get(loaded.value), kinds)
    if loaded.value in known.assigned:
        return known.is_constant(loaded.value, kinds)
    if owner is not None:
        return _is_float(vars(owner).get(loaded.value), kinds)
    return not known.read and _is_word(loaded.value, kinds)


def _owner(names: tuple[str, ...], frame: FrameType) -> ModuleType | type | None:
    """The module or class that such names mean here."""
    if not names:
        return None
    found = frame.f_locals.get(names[0], frame.f_globals.get(names[0]))
    for name in names[1:]:
        if not isinstance(found, (ModuleType, type)):
            return None
        found = vars(found).get(name)
    return found if isinstance(found, (ModuleType, type)) else None


def _is_float(value: object, kinds: Kinds) -> bool:
    return isinstance(value, float) and _is_number(value, kinds)
