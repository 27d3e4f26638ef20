"""The arrays inside dicts, lists, tuples, dataclasses and model outputs, each with its path."""

from __future__ import annotations

import sys

from nanscope.errors import Unreadable, kind_of
from nanscope.outside.arrays import is_array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

Leaf = tuple[str, object]


def leaves_of(value: object, name: str) -> Iterator[Leaf]:
    """(`out.logits[0]`, the array there). What is no array and holds none is left out."""
    return _walk(value, name, ())


def leaves_or_refusal(value: object, name: str) -> Iterator[Leaf]:
    """The same; a value that neither is an array nor could hold one is refused in a sentence."""
    if not is_array(value) and not isinstance(value, (int, bool)) and _parts(value) is None:
        raise Unreadable(_refusal(value, name))
    return leaves_of(value, name)


def _walk(value: object, path: str, above: tuple[int, ...]) -> Iterator[Leaf]:
    if is_array(value):
        yield path, value
        return
    if id(value) in above:
        return  # a container that holds itself
    for suffix, part in _parts(value) or ():
        yield from _walk(part, path + suffix, (*above, id(value)))


def _parts(value: object) -> list[Leaf] | None:
    """What a container holds, with how each part is reached; None if it is no container."""
    if isinstance(value, type):
        return None
    fields = getattr(value, "__dataclass_fields__", None) or getattr(value, "_fields", None)
    if fields and (isinstance(fields, dict) or isinstance(value, tuple)):
        return [(f".{field}", getattr(value, field, None)) for field in fields]
    if isinstance(value, (list, tuple)):
        return [(f"[{i}]", part) for i, part in enumerate(value)]
    if isinstance(value, dict) or _is_mapping(value):
        return [(f"[{key!r}]", value[key]) for key in list(value)]
    return None


def _is_mapping(value: object) -> bool:
    from collections.abc import Mapping

    return isinstance(value, Mapping)


def _refusal(value: object, name: str) -> str:
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.nn.Module):
        return f"{name} is a module; check_weights({name}) looks at its parameters."
    if hasattr(value, "__next__"):
        return f"{name} is an iterator, and looking at it would use it up: check what it gives."
    return f"{name} is {kind_of(value)}, neither an array nor a container of arrays."
