"""C functions in the place of Python ones, so that no traceback has a frame of ours."""

from __future__ import annotations

from types import MethodType

from nanscope import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class StandIn:
    """A C function in the place of a method, which it is to be taken for."""

    def __init__(self, function: Callable, original: object) -> None:
        self.function = function
        self.original = original
        self.__doc__ = getattr(original, "__doc__", None)
        self.__name__ = getattr(original, "__name__", "")

    def __get__(self, instance: object, owner: type | None = None) -> object:
        return self.function if instance is None else MethodType(self.function, instance)

    def __getattr__(self, name: str) -> object:
        return getattr(self.original, name)


def noted(
    original: object, before: Callable | None = None, after: Callable | None = None
) -> StandIn:
    """A method that is noted whenever it is called; asking whether it is there notes nothing."""
    return StandIn(_core.Around(original, before=before, after=after), original)
