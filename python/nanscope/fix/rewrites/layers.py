"""Layers without weights that a class keeps: `self.softmax = nn.Softmax(dim=1)`."""

from __future__ import annotations

import libcst as cst

from nanscope.fix.operation import Operation, dotted, is_module, read


def option(called: Operation, place: int, name: str, of: str) -> str | None:
    """An argument of `torch.softmax(x, dim=1)`, or of the one layer `of` that is called here."""
    source, node = called.source, called.node
    if called.form != "function" or is_module(source, node.func):
        given = called.argument(place, name)
        return source.code(given) if given is not None else None
    made = [
        read(source, other.value)
        for other in source.nodes()
        if isinstance(other, cst.Assign) and dotted(other.targets[0].target) == dotted(node.func)
    ]
    if len(made) != 1 or made[0] is None or made[0].name != of:
        return None
    given = made[0].argument(place - 1, name)
    return source.code(given) if isinstance(given, cst.Integer | cst.UnaryOperation) else None
