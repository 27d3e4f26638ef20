"""Does the text of the line that runs now spell a NaN or an infinity?"""

from __future__ import annotations

import dis
import math
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType, FrameType

_MOST_FRAMES = 12
_WORDS = {
    "nan": {"nan"},
    "pos_inf": {"inf", "infty", "infinity", "pinf"},
    "neg_inf": {"inf", "infty", "infinity", "ninf"},
}


def spells(is_user_code: Callable[[str], bool], nan: int, pos_inf: int, neg_inf: int) -> bool:
    """A constant of that kind, or a name like `inf` or `nan`, stands in the line: of torch's frames
    too, down to the program's own.
    """
    asked = {"nan": nan, "pos_inf": pos_inf, "neg_inf": neg_inf}
    words = set().union(*(_WORDS[kind] for kind, wanted in asked.items() if wanted))
    frame: FrameType | None = sys._getframe(1)
    for _ in range(_MOST_FRAMES):
        if frame is None:
            return False
        if any(_is_one(value, words, asked) for value in _on_the_line(frame)):
            return True
        if is_user_code(frame.f_code.co_filename):
            return False
        frame = frame.f_back
    return False


def _on_the_line(frame: FrameType) -> Iterator[object]:
    """Names and constants that the instructions of the line load."""
    code: CodeType = frame.f_code
    first, last = _lines_at(code, frame.f_lasti)
    for instruction in dis.get_instructions(code):
        line = instruction.positions.lineno if instruction.positions else None
        if line is not None and first <= line <= last and instruction.argval is not None:
            yield instruction.argval


def _lines_at(code: CodeType, offset: int) -> tuple[int, int]:
    positions = list(code.co_positions())
    first, last, *_ = positions[offset // 2] if offset // 2 < len(positions) else (None, None)
    return (first or 0, last or first or 0)


def _is_one(value: object, words: set[str], asked: dict[str, int]) -> bool:
    if isinstance(value, str):
        return value.strip("+-_ ").lower() in words
    if isinstance(value, (tuple, frozenset)):
        return any(_is_one(item, words, asked) for item in value)
    if not isinstance(value, float) or math.isfinite(value):
        return False
    return bool(asked["nan"] if math.isnan(value) else asked["pos_inf"] or asked["neg_inf"])
