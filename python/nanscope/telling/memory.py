"""Does the program itself take memory without values here, or code in C that it calls?"""

from __future__ import annotations

from nanscope.telling.loaded import on_the_line
from nanscope.telling.source import keeper

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import CodeType

_PARTS = ("empty", "resize", "storage")
_WORDS = frozenset({"set_", "new"})
# They hand on what their caller asked for.
_HAND_ON = frozenset({"__torch_function__", "__torch_dispatch__"})


def takes_memory(
    is_user_code: Callable[[str], bool], frames: Iterable[tuple[CodeType, int]]
) -> bool:
    """A line names a function that does: torch's own, down to the program's. Where none does, an
    extension took the memory, and writes it by no operation that anybody sees.
    """
    for code, offset in frames:
        if keeper.is_stand_in(code):
            return True  # it calls what the program called there, in its compiled graph
        names = (loaded.value for loaded in on_the_line(code, offset) if loaded.kind != "constant")
        if any(_is_taking(name) for name in names):
            return True
        if is_user_code(code.co_filename) and code.co_name not in _HAND_ON:
            return False
    return False


def _is_taking(name: str) -> bool:
    """torch.empty, x.new_empty, resize_, torch.Tensor(3), torch.FloatTensor(3)."""
    lower = name.lower()
    return lower in _WORDS or name.endswith("Tensor") or any(part in lower for part in _PARTS)
