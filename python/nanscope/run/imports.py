"""Calls back when a module has been imported, without a frame of ours in anybody's traceback."""

from __future__ import annotations

import sys

from nanscope import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    Then = Callable[[ModuleType], None]


class _Finder:
    """Finds nothing itself: it asks the others, and puts a stand-in over the loader's last step."""

    def __init__(self) -> None:
        self.waiting: dict[str, Then] = {}

    def find_spec(self, name, path=None, target=None):
        then = self.waiting.pop(name, None)
        if then is None:
            return None
        if not self.waiting:
            sys.meta_path.remove(self)
        spec = self._ask_the_others(name, path, target)
        if spec is None:
            when_imported(name, then)  # it may come with another sys.path
        elif hasattr(spec.loader, "exec_module"):
            _call_after(spec.loader, name, then)
        return spec

    def _ask_the_others(self, name, path, target):
        for finder in list(sys.meta_path):
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                return spec
        return None


def _call_after(loader, name: str, then: Then) -> None:
    def loaded(result: object) -> object:
        vars(loader).pop("exec_module", None)
        then(sys.modules[name])
        return result

    try:
        loader.exec_module = _core.Around(loader.exec_module, after=loaded)
    except AttributeError:
        pass  # a loader without room for it: the module stays unwatched, and is imported


_finder = _Finder()


def when_imported(name: str, then: Then) -> None:
    """Now, if it has been imported. A fault of `then` is its own affair: it must not raise."""
    if name in sys.modules:
        then(sys.modules[name])
        return
    _finder.waiting[name] = then
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
