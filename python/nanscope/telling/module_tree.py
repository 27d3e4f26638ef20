"""Every module of the program's models, by the path a user would write."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from nanscope.telling import modules

Row = tuple[str, str, int, list[object]]  # path, class, address, the parameters it owns itself


def rows() -> list[Row]:
    """Parents before their children; of a model that stands inside another only the outer one."""
    try:
        return _rows([vars(sys.modules["__main__"]), *modules.live_namespaces()])
    except Exception:  # a class of the program's own that cannot be walked
        return []


def _rows(spaces: Sequence[modules.Namespace]) -> list[Row]:
    roots: dict[int, tuple[str, object]] = {}
    for name, root in modules.named_roots(spaces):
        roots.setdefault(id(root), (name, root))
    inner = {
        id(module) for _, root in roots.values() for module in root.modules() if module is not root
    }
    found: list[Row] = []
    seen: set[object] = set()
    for address, (name, root) in roots.items():
        if address in inner:
            continue
        for path, module in root.named_modules(memo=seen, prefix=name):
            own = [p for p in module._parameters.values() if p is not None]
            found.append((path, type(module).__name__, id(module), own))
    return found
