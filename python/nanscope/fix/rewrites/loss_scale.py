"""A loss scale that the program multiplies itself, and nothing stops."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.candidate import Candidate
from nanscope.fix.case import Case
from nanscope.fix.operation import Operation, append, dotted, read
from nanscope.fix.source_file import Edit

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
    if operation is None or operation.name != "mul":
        return
    tensors = {facts["name"] for facts in case.finding["inputs"]}
    for name in filter(None, map(dotted, operation.operands)):
        growths = [made for made in _products(case) if _grows(made, name)]
        if len(growths) == 1:
            yield _bounded(growths[0], name in tensors)


def _products(case: Case) -> Iterator[Operation]:
    for node in case.source.nodes():
        made = read(case.source, node) if isinstance(node, cst.CSTNode) else None
        if made is not None and made.name == "mul" and len(made.operands) == 2:
            yield made


def _grows(made: Operation, name: str) -> bool:
    """`scale *= 2`, `scale = scale * 2`"""
    target, factor = made.operands
    if dotted(target) != name or not isinstance(factor, cst.Integer | cst.Float):
        return False
    parent = made.source.parent(made.node)
    to_itself = isinstance(parent, cst.Assign) and dotted(parent.targets[0].target) == name
    return (made.form == "augmented" or to_itself) and float(factor.value) > 1


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
