"""A loss scale that the program multiplies itself, and nothing stops."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.operation import Operation, append, dotted, read
from nanscope.fix.patch.source_file import Edit
from nanscope.fix.rewrites.scope import nodes_in, scope_of

LARGEST = "2.0**24"
WHY = f"the scale is multiplied at every interval: it grows to {LARGEST} at most."


def propose(case: Case) -> Iterator[Candidate]:
    """At the multiplication that overflowed."""
    operation = case.operation
    if operation is not None and operation.name == "mul" and len(operation.operands) == 2:
        yield _bounded(operation, is_tensor=True)


def of_loss(case: Case) -> Iterator[Candidate]:
    """`loss * scale` overflowed: where the scale grows."""
    operation = case.operation
    if operation is None or operation.name != "mul" or not _is_of_loss(operation):
        return
    tensors = {facts.name for facts in case.finding.inputs}
    for name in filter(None, map(dotted, operation.operands)):
        growths = [made for made in _products(case) if _grows(made, name)]
        if len(growths) == 1:
            yield _bounded(growths[0], name in tensors)


def _is_of_loss(product: Operation) -> bool:
    """A factor is called a loss, or the gradient of the product is taken, by name or at once."""
    source, node = product.source, product.node
    names = [dotted(operand).rpartition(".")[2].lower() for operand in product.operands]
    if any("loss" in name for name in names):
        return True
    target = _target(source.parent(node))
    return any(
        one is node or (target and dotted(one) == target)
        for call in nodes_in(source, scope_of(source, node))
        if (made := read(source, call)) is not None and made.name in ("backward", "grad")
        for one in made.operands[:1]
    )


def _target(node: cst.CSTNode | None) -> str:
    return dotted(node.targets[0].target) if isinstance(node, cst.Assign) else ""


def _products(case: Case) -> Iterator[Operation]:
    """Others than the one that failed, and of the same names."""
    source = case.source
    for node in source.nodes():
        made = read(source, node) if node is not case.node else None
        if made is not None and made.name == "mul" and len(made.operands) == 2:
            if _home(made, case.node) is _home(made, node):
                yield made


def _home(made: Operation, node: cst.CSTNode) -> cst.CSTNode:
    """Inside which the first factor stands for one thing: `self.scale` in all of its class."""
    source, name = made.source, dotted(made.operands[0])
    if "." not in name:
        return scope_of(source, node)
    classes = (p for p in source.parents(node) if isinstance(p, cst.ClassDef))
    own = name.startswith("self.")
    return next(classes, source.module) if own else source.module


def _grows(made: Operation, name: str) -> bool:
    """`scale *= 2`, `scale = scale * 2`"""
    target, factor = made.operands
    if dotted(target) != name or not isinstance(factor, cst.Integer | cst.Float):
        return False
    to_itself = _target(made.source.parent(made.node)) == name
    return (made.form == "augmented" or to_itself) and factor.evaluated_value > 1


def _bounded(operation: Operation, is_tensor: bool) -> Candidate:
    source = operation.source
    if operation.form == "augmented":
        scale, factor = (source.code(operand) for operand in operation.operands)
        code = f"{scale} = {_at_most(f'{scale} * {factor}', is_tensor)}"
        edits = [Edit(source.path, *source.span(operation.node), code)]
    elif operation.in_place:
        edits = append(source, operation.node, f".clamp_(max={LARGEST})")
    else:
        edits = [source.edit(operation.node, _at_most(source.bare(operation.node), is_tensor))]
    # What is patched is a factor of the loss: neither its values nor the loss are to be the same.
    return Candidate(
        "bound_loss_scale", WHY, edits, changes_training=True, is_value=False, scales_loss=True
    )


def _at_most(product: str, is_tensor: bool) -> str:
    return f"({product}).clamp(max={LARGEST})" if is_tensor else f"min({product}, {LARGEST})"
