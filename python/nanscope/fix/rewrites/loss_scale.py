"""A loss scale that the program multiplies itself, and nothing stops."""

from __future__ import annotations

from collections.abc import Iterator

from nanscope.fix.candidate import Candidate
from nanscope.fix.case import Case
from nanscope.fix.operation import append
from nanscope.fix.source_file import Edit

LARGEST = "2.0**24"


def propose(case: Case) -> Iterator[Candidate]:
    operation = case.operation
    if operation is None or operation.name != "mul" or len(operation.operands) != 2:
        return
    source = case.source
    why = f"the scale is multiplied at every interval: it grows to {LARGEST} at most."
    if operation.form == "augmented":
        scale, factor = (source.code(operand) for operand in operation.operands)
        code = f"{scale} = ({scale} * {factor}).clamp(max={LARGEST})"
        begin, end = source.span(operation.node)
        edits = [Edit(source.path, begin, end, code)]
    elif operation.in_place:
        edits = append(source, operation.node, f".clamp_(max={LARGEST})")
    else:
        edits = append(source, operation.node, f".clamp(max={LARGEST})")
    yield Candidate("bound_loss_scale", why, edits, changes_training=True)
