"""Layers without weights that a class keeps: `self.softmax = nn.Softmax(dim=1)`."""

from __future__ import annotations

import libcst as cst

from nanscope.fix.patch.operation import Operation, dotted, is_module, read


def option(called: Operation, place: int, name: str, of: str) -> str | None:
    """An argument of `torch.softmax(x, dim=1)`, or of the one layer `of` that is called here."""
    source = called.source
    if _is_function(called):
        given = called.argument(place, name)
        return source.code(given) if given is not None else None
    layer = _layer(called, of)
    given = layer.argument(place - 1, name) if layer is not None else None
    return source.code(given) if isinstance(given, cst.Integer | cst.UnaryOperation) else None


def is_torchs(called: Operation, of: str) -> bool:
    """A function or method of torch's, or its layer `of`; not one that the program defines."""
    if _is_function(called) or _layer(called, of) is not None:
        return True
    func = called.node.func
    return isinstance(func, cst.Name) and not _is_defined(called, func.value)


def _is_function(called: Operation) -> bool:
    return called.form != "function" or is_module(called.source, called.node.func)


def _layer(called: Operation, of: str) -> Operation | None:
    source, name = called.source, dotted(called.node.func)
    made = [
        read(source, other.value)
        for other in source.nodes()
        if isinstance(other, cst.Assign) and dotted(other.targets[0].target) == name
    ]
    is_one = len(made) == 1 and made[0] is not None and made[0].name == of
    return made[0] if is_one else None


def _is_defined(called: Operation, name: str) -> bool:
    for node in called.source.nodes():
        if isinstance(node, cst.FunctionDef) and node.name.value == name:
            return True
        if isinstance(node, cst.AssignTarget) and dotted(node.target) == name:
            return True
    return False
