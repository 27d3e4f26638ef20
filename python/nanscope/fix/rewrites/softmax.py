"""Rows of which nothing is left: softmax and logsumexp over -inf alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from nanscope.fix.patch.candidate import Candidate, Comparison
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.operation import Operation, append, primary
from nanscope.fix.patch.source_file import Edit, SourceFile
from nanscope.fix.rewrites.scope import (
    REPEATING,
    indentation,
    may_run_twice,
    starts_line,
    statement_of,
    words,
)

OF_SUM = ("logsumexp", "logaddexp")
ROWS = ("empty", "all_masked", "masked_rows")
NAMES = ("scores", "logits", "before_softmax", "masked_scores")


def propose(case: Case) -> Iterator[Candidate]:
    operation = case.operation
    if operation is None or not operation.operands:
        return
    dim = operation.argument(1, "dim")
    elsewhere = operation.name in ("softmax", "log_softmax") and _masks_whole_rows(case, dim)
    if elsewhere:
        yield Candidate(
            "softmax_along_the_mask",
            f"the mask is the same all along dimension {case.source.code(dim)}, over which softmax "
            "is taken: it can only mask whole rows there. It varies along the last dimension.",
            [case.source.edit(dim, "-1")],
            changes_training=True,
            alters="softmax is taken over the last dimension",
        )
    for candidate in _guards(case, operation, dim):
        yield replace(candidate, workaround=True) if elsewhere else candidate


def _guards(
    case: Case, operation: Operation, dim: cst.BaseExpression | None
) -> Iterator[Candidate]:
    operand = operation.operands[0]
    is_softmax = operation.name in ("softmax", "log_softmax")
    if is_softmax and dim is not None:
        inner, again = _twice(case, operand)
        rows = f"{again}.isneginf().all(dim={case.source.code(dim)}, keepdim=True)"
        guarded = f"{inner}.masked_fill({rows}, 0.0)"
        if operation.name == "softmax" and inner == again:
            yield from _without_weight(case, operation, inner, rows)
        yield Candidate(
            "guard_masked_rows",
            "a row that is masked as a whole is given equal weights; all others are untouched.",
            [case.source.edit(operand, guarded)],
        )
    of_sum = operation.name in OF_SUM
    if of_sum and any(facts.healthy for facts in case.finding.inputs):
        return  # the sum is as low as the floor then, which no healthy one is
    if of_sum or is_softmax:
        least = f"torch.finfo(torch.{case.dtype}).min"
        yield Candidate(
            "finite_floor",
            "-inf is kept at the least finite number: the result is the same, and has a slope.",
            operation.wrap(operand, f"clamp(min={least})"),
        )


def _masks_whole_rows(case: Case, dim: cst.BaseExpression | None) -> bool:
    """Softmax is taken along what the mask never varies along, and it does along the last."""
    taken = _number(dim) if dim is not None else None
    facts = case.operand("self")
    masks = [t for maker in case.finding.makers[:1] for t in maker.tensors if t.saved == "mask"]
    if taken is None or facts is None or not masks:
        return False
    rank = len(facts.shape)
    taken = taken + rank if taken < 0 else taken
    mask = [1] * (rank - len(masks[0].shape)) + masks[0].shape
    if not 0 <= taken < rank - 1 or facts.shape[taken] < 2:
        return False
    return mask[taken] == 1 and mask[-1] > 1


def _number(node: cst.BaseExpression) -> int | None:
    match node:
        case cst.Integer(value=value):
            return int(value)
        case cst.UnaryOperation(operator=cst.Minus(), expression=cst.Integer(value=value)):
            return -int(value)
    return None


def _without_weight(case: Case, operation: Operation, inner: str, rows: str):
    """As scaled_dot_product_attention has it: such a row is 0, and so is its slope."""
    source = case.source
    statement = statement_of(source, operation.node)
    around = _up_to(source, operation.node, statement)
    held = any(isinstance(parent, (*REPEATING, cst.Lambda)) for parent in around)
    if statement is None or not starts_line(source, statement) or held or operation.in_place:
        return
    known = words(source.text)
    name = next((n for n in ROWS if n not in known), f"{ROWS[-1]}_")
    begin, gap = source.span(statement)[0], source.newline + indentation(source, statement)
    operand = operation.operands[0]
    edits = [
        source.edit(operand, f"{inner}.masked_fill({name}, 0.0)"),
        *append(source, operation.node, f".masked_fill({name}, 0.0)"),
    ]
    first, last = source.span(operation.node)
    at = source.span(operand)[0] - first, source.span(operand)[1] - first
    code = source.text[first:last]
    inside = f"{code[: at[0]]}{inner}.masked_fill({rows}, 0.0){code[at[1] :]}"
    yield Candidate(
        "zero_masked_rows",
        "a row that is masked as a whole gets no weight at all; all others are untouched.",
        [Edit(source.path, begin, begin, f"{name} = {rows}{gap}"), *edits],
        compare=Comparison(source.path, first, last, code, f"{inside}.masked_fill({rows}, 0.0)"),
    )


def _up_to(source: SourceFile, node: cst.CSTNode, last: cst.CSTNode | None):
    for parent in source.parents(node):
        if parent is last:
            return
        yield parent


def _twice(case: Case, operand: cst.BaseExpression) -> tuple[str, str]:
    """Its text, and what stands for it behind that: a name where it may run only once."""
    source = case.source
    inner = primary(source, operand)
    if may_run_twice(source, operand):
        return inner, inner
    known = words(source.text)
    name = next((n for n in NAMES if n not in known), f"{NAMES[-1]}_")
    return f"({name} := {source.bare(operand)})", name
