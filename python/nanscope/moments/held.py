"""What the program holds when it ends."""

from __future__ import annotations

import gc
import sys

from nanscope.moments import left_loops
from nanscope.moments.decisions import Looked, handed_to_what_raised

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
    innermost first), the tensors in its last frames, and what the code that raised was given.
    """

    def __init__(self, error: BaseException, main_file: str | None = None) -> None:
        frames = []
        self.stack = []
        trace = error.__traceback__
        while trace is not None:
            frames.append(trace.tb_frame)
            self.stack.insert(0, (trace.tb_frame.f_code, trace.tb_lasti))
            trace = trace.tb_next
        self.text = _words(error)
        self.exits = isinstance(error, SystemExit)
        self.blunder = isinstance(error, _BLUNDERS) or not isinstance(
            error, (Exception, SystemExit)
        )
        about = Looked()
        for frame in frames[-4:]:
            for value in list(frame.f_locals.values()):
                about.add(value)
        self.tensors = about.tensors
        self.handed = handed_to_what_raised(error.__traceback__, main_file)


def tell_of_owners(adapter: ModuleType, model: object | None) -> None:
    """The parameters and buffers that modules and optimizers have now: `_buffers[name] = x` and
    `param_groups[0]["params"].append(x)` register none.
    """
    torch = sys.modules["torch"]
    if model is not None:
        for module in model.modules():
            adapter.module_found(module)
        return
    for module in alive(torch.nn.Module):
        adapter.module_found(module)
    for optimizer in alive(torch.optim.Optimizer):
        adapter.optimizer_found(optimizer)


def alive(owner: type) -> list:
    """All objects of this type or one derived from it."""
    values = gc.get_objects()
    kinds = {kind for kind in set(map(type, values)) if issubclass(kind, owner)}
    return [value for value in values if type(value) in kinds and _is_made(value)]


def _is_made(owner: object) -> bool:
    """Not one whose constructor raised, or is still at work."""
    values = getattr(owner, "__dict__", {})
    return "_parameters" in values or isinstance(values.get("param_groups"), list)


def tell_end(
    adapter: ModuleType, raised: Raised | None, status: int, tensors: list[tuple[str, object]]
) -> None:
    """The program, or a watched block, is over: what it raised, and what it holds."""
    left_early, may_have_left_early = left_loops.end()
    handed = raised.handed if raised is not None else Looked()
    adapter.program_ended(
        exception=raised is not None and not raised.exits,
        blunder=raised is not None and raised.blunder,
        status=status,
        text=raised.text if raised is not None else "",
        locals=raised.tensors if raised is not None and not raised.exits else [],
        held=tensors,
        stack=raised.stack if raised is not None else [],
        handed=handed.tensors,
        memory=_as_tensors(handed.arrays),
        numbers=handed.numbers,
        left_early=left_early or is_stop_requested(),
        may_have_left_early=may_have_left_early,
    )


def is_stop_requested() -> bool:
    """A trainer's stop flag is set, as Lightning's EarlyStopping does."""
    for name in ("lightning.pytorch", "pytorch_lightning"):
        package = sys.modules.get(name)
        trainer = getattr(package, "Trainer", None)
        if trainer is None:
            continue
        for value in gc.get_objects():
            if type(value) is trainer and getattr(value, "should_stop", False):
                return True
    return False


def _as_tensors(arrays: list[object]) -> list[object]:
    """Over the same memory, or over a copy where torch cannot have it."""
    torch, tensors = sys.modules["torch"], []
    for array in arrays:
        try:
            tensors.append(torch.from_numpy(array.copy()))
        except (TypeError, ValueError):
            pass  # a type that torch has not
    return tensors


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
