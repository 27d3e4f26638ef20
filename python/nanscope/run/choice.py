"""What `--layer` and `--file` choose, and whether there is such a thing in the program at all."""

from __future__ import annotations

import os
import sys
from difflib import get_close_matches

from nanscope.telling import modules, stack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

LOOKS = 3  # before a backward, where a model that is local to a function is alive
MOST_NAMED = 4


class Choice:
    """One module subtree or one source file; asked once more at the end of the program."""

    def __init__(self, layer: str, file: str) -> None:
        self.layer = layer
        self.file = file
        self.looks = 0
        self.seen: set[str] = set()  # paths of modules

    def looking_before(self, act: Callable[[], None]) -> Callable[[], None]:
        """The same function, which looks for the layer first; itself if no layer is chosen."""
        if not self.layer:
            return act

        def look_and_act() -> None:
            if self.looks < LOOKS and self.layer not in self.seen:
                self.looks += 1
                self.look()
            act()

        return look_and_act

    def look(self) -> None:
        spaces = [vars(sys.modules["__main__"]), *modules.live_namespaces()]
        self.seen |= modules.module_paths(spaces)

    def problem(self) -> str | None:
        """A sentence if nothing of the program was chosen."""
        if self.layer:
            self.look()
            if self.seen and self.layer not in self.seen:
                return f"no module goes by the name {self.layer}{self._instead()}"
        if self.file and not stack.has_seen(self.file):
            return f"no watched operation was called from {stack.display_path(self.file)}"
        return None

    def _instead(self) -> str:
        close = get_close_matches(self.layer, sorted(self.seen), MOST_NAMED, 0.5)
        names = close or sorted(self.seen, key=lambda path: (path.count("."), path))[:MOST_NAMED]
        return f"; there is {', '.join(names)}" if names else ""


def of(settings) -> Choice:
    file = os.path.realpath(settings.file) if settings.file else ""
    return Choice(settings.layer, file)
