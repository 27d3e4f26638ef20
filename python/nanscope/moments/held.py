"""What the program holds when it ends."""

from __future__ import annotations

import gc
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

# Raised for a name, a type, a file, a key: whatever the values were.
_BLUNDERS = (
    AttributeError,
    EOFError,
    ImportError,
    LookupError,
    MemoryError,
    NameError,
    NotImplementedError,
    OSError,
    SyntaxError,
    TypeError,
)


def _words(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


class Raised:
    """What is kept of an uncaught exception: its words, where it was raised (code and offset,
    innermost first), and the tensors in its last frames.
    """

    def __init__(self, error: BaseException) -> None:
        torch = sys.modules["torch"]
        frames = []
        self.stack = []
        trace = error.__traceback__
        while trace is not None:
            frames.append(trace.tb_frame)
            self.stack.insert(0, (trace.tb_frame.f_code, trace.tb_lasti))
            trace = trace.tb_next
        self.text = _words(error)
        self.blunder = isinstance(error, _BLUNDERS) or not isinstance(error, Exception)
        self.tensors = [
            value
            for frame in frames[-4:]
            for value in list(frame.f_locals.values())
            if issubclass(type(value), torch.Tensor)
        ]


def tell_of_modules(adapter: ModuleType, model: object | None) -> None:
    """The parameters and buffers that modules have now: `_buffers[name] = x` registers none."""
    torch = sys.modules["torch"]
    Module = torch.nn.Module
    if model is not None:
        found = list(model.modules())
    else:
        alive = gc.get_objects()
        kinds = {kind for kind in set(map(type, alive)) if issubclass(kind, Module)}
        found = [value for value in alive if type(value) in kinds]
    for module in found:
        adapter.module_found(module)


def tell_end(
    adapter: ModuleType, raised: Raised | None, status: int, tensors: list[tuple[str, object]]
) -> None:
    """The program, or a watched block, is over: what it raised, and what it holds."""
    if raised is None:
        adapter.program_ended(False, False, status, "", [], tensors, [])
    else:
        adapter.program_ended(
            True, raised.blunder, status, raised.text, raised.tensors, tensors, raised.stack
        )


def tensors_of_the_program(unnamed: bool = True) -> list[tuple[str, object]]:
    """Every tensor the program still holds: names of __main__ first, then all that is alive."""
    torch = sys.modules["torch"]
    found: dict[int, tuple[str, object]] = {}

    def look(name: str, value: object, depth: int) -> None:
        if depth > 4 or id(value) in found:
            return
        if isinstance(value, torch.Tensor):
            found[id(value)] = (name, value)
        elif type(value) is dict:
            for key, item in list(value.items()):
                look(f"{name}[{key!r}]", item, depth + 1)
        elif type(value) in (list, tuple, set):
            for i, item in enumerate(list(value)[:10000]):
                look(f"{name}[{i}]", item, depth + 1)

    for name, value in list(vars(sys.modules["__main__"]).items()):
        if not name.startswith("__"):
            look(name, value, 0)
    alive = gc.get_objects() if unnamed else []
    tensor_types = {kind for kind in set(map(type, alive)) if issubclass(kind, torch.Tensor)}
    for value in alive:
        if type(value) in tensor_types:
            found.setdefault(id(value), ("", value))
    return list(found.values())
