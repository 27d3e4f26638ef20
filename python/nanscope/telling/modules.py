"""Where a module stands in the user's model: `net.encoder.layers.3.attn`, `net.head.weight`.

A path begins with the variable that holds the outermost module. It is looked for among the names
the caller gives (those of `__main__`) and among the local variables of the user's functions that
are running now. A model that no variable holds goes by the name of its class.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import FrameType, ModuleType

from nanscope.telling.stack import is_user_code

Namespace = Mapping[str, object]

_OPTIMIZED = 0x1  # CO_OPTIMIZED: a function, whose local variables are not a dictionary
_MOST_ITEMS = 1000  # of one list or dictionary, looked at for modules


def path_by_address(addresses: Sequence[int], *namespaces: Namespace) -> str | None:
    """The path of the last of these nn.Modules, each called inside the one before it.

    They are given by their addresses: of those that are gone, the last that is not.
    """
    if not addresses:
        return None
    return (
        _path_from_variable(addresses, namespaces)
        or _path_from_variable(addresses, live_namespaces())
        or _path_from_class(addresses)
    )


def module_paths(spaces: Sequence[Namespace]) -> set[str]:
    """Every path by which a living module can be named."""
    Module = _module_class()
    paths: set[str] = set()
    for name, root in (*_roots(spaces), *_seen_from_inside(spaces)):
        paths.update(path for path, _ in root.named_modules(prefix=name))
    for thing in gc.get_objects():  # those that no variable holds
        if Module is not None and issubclass(type(thing), Module):
            prefix = type(thing).__name__
            paths.update(path for path, _ in thing.named_modules(prefix=prefix))
    return paths


def named_roots(spaces: Sequence[Namespace]) -> Iterator[tuple[str, object]]:
    """The models that variables hold, or that are seen from inside, by their names."""
    yield from _roots(spaces)
    yield from _seen_from_inside(spaces)


def parameter_names(*namespaces: Namespace) -> dict[int, str]:
    """The names of parameters, buffers and bare trained tensors.

    By id() of the tensor and by address of its data: no two living things share an address. Give
    it `*live_namespaces()` too, if the model may be local to a function.
    """
    torch = sys.modules.get("torch")
    names: dict[int, str] = {}
    if torch is None:
        return names
    spaces = list(namespaces)
    for root, module in (*_roots(spaces), *_seen_from_inside(spaces)):
        for path, tensor in (*module.named_parameters(root), *module.named_buffers(root)):
            _add(names, tensor, path)
    for name, value in _variables(spaces):
        if issubclass(type(value), torch.Tensor) and value.requires_grad and value.is_leaf:
            _add(names, value, name)
    return names


def live_namespaces() -> Iterator[dict[str, object]]:
    """The local variables of the user's running functions, in all threads, innermost first.

    Reading them brings a dictionary up to date that a program may have got from locals(): ask when
    something has been found, not before.
    """
    for top in list(sys._current_frames().values()):
        frame: FrameType | None = top
        while frame is not None:
            code = frame.f_code
            if code.co_flags & _OPTIMIZED and is_user_code(code.co_filename):
                yield _locals(frame)
            frame = frame.f_back


def _locals(frame: FrameType) -> dict[str, object]:
    kept = frame.f_locals
    found = dict(kept)
    # The frame keeps its dictionary, and with it tensors that their variables have let go of. It is
    # emptied, unless the program holds it as well: three references are the frame's and ours.
    if sys.getrefcount(kept) <= 3:
        kept.clear()
    return found


def _path_from_variable(addresses: Sequence[int], namespaces: Iterable[Namespace]) -> str | None:
    roots = list(_roots(namespaces))
    # First the module that was called first, by the name it was called by.
    variables = {id(module): (name, module) for name, module in reversed(roots)}
    called = [variables[address] for address in addresses if address in variables]
    for address in reversed(addresses):
        for name, root in called + roots:
            for path, module in root.named_modules(prefix=name):
                if id(module) == address:
                    return path
    return None


def _roots(namespaces: Iterable[Namespace]) -> Iterator[tuple[str, object]]:
    """Modules and the names they go by: variables first, then what variables hold."""
    Module = _module_class()
    if Module is None:
        return
    variables = list(_variables(namespaces))
    # By type(): a proxy that lies about its class may run code when it is asked.
    yield from ((name, value) for name, value in variables if issubclass(type(value), Module))
    for name, value in variables:
        if not issubclass(type(value), Module):
            yield from ((n, v) for n, v in _held(name, value) if issubclass(type(v), Module))


def _seen_from_inside(namespaces: Iterable[Namespace]) -> Iterator[tuple[str, object]]:
    """Where no variable holds the model: `self.net` of a trainer, the class of a module."""
    Module = _module_class()
    for space in namespaces:
        owner = space.get("self")
        if owner is None or Module is None:
            continue
        if issubclass(type(owner), Module):
            yield type(owner).__name__, owner
        else:
            yield from ((n, v) for n, v in _held("self", owner) if issubclass(type(v), Module))


def _variables(namespaces: Iterable[Namespace]) -> Iterator[tuple[str, object]]:
    for space in namespaces:
        for name, value in list(space.items()):
            # `self` is the module itself, seen from inside: not what the user calls it.
            if not name.startswith("_") and name not in ("self", "cls"):
                yield name, value


def _held(name: str, value: object) -> Iterator[tuple[str, object]]:
    """`nets[0]`, `models['g']`, `trainer.model`."""
    if type(value) in (list, tuple):
        yield from ((f"{name}[{i}]", item) for i, item in enumerate(value[:_MOST_ITEMS]))
    elif type(value) is dict:
        yield from ((f"{name}[{key!r}]", item) for key, item in list(value.items())[:_MOST_ITEMS])
    elif not issubclass(type(value), ModuleType | type):
        try:
            fields = object.__getattribute__(value, "__dict__")
        except AttributeError:
            return
        if type(fields) is dict:
            yield from ((f"{name}.{key}", item) for key, item in list(fields.items())[:_MOST_ITEMS])


def _path_from_class(addresses: Sequence[int]) -> str | None:
    Module, wanted = _module_class(), set(addresses)
    alive = {
        id(thing): thing
        for thing in gc.get_objects()
        if id(thing) in wanted and Module is not None and issubclass(type(thing), Module)
    }
    called = [alive[address] for address in addresses if address in alive]
    if not called:
        return None
    for module in reversed(called):
        for path, inner in called[0].named_modules(prefix=type(called[0]).__name__):
            if inner is module:
                return path
    return None


def _add(names: dict[int, str], tensor: object, name: str) -> None:
    names.setdefault(id(tensor), name)
    try:
        address = tensor.data_ptr()
    except RuntimeError:  # it has no memory of its own
        return
    if address:
        names.setdefault(address, name)


def _module_class() -> type | None:
    torch = sys.modules.get("torch")
    return torch.nn.Module if torch is not None else None
