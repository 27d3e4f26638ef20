"""Rows of which nothing is left: softmax and logsumexp over -inf alone."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.operation import primary
from nanscope.fix.rewrites.scope import may_run_twice, words

NAMES = ("scores", "logits", "before_softmax", "masked_scores")


def propose(case: Case) -> Iterator[Candidate]:
    operation = case.operation
    if operation is None or not operation.operands:
        return
    operand = operation.operands[0]
    dim = operation.argument(1, "dim")
    if operation.name in ("softmax", "log_softmax") and dim is not None:
        inner, again = _twice(case, operand)
        rows = f"{again}.isneginf().all(dim={case.source.code(dim)}, keepdim=True)"
        guarded = f"{inner}.masked_fill({rows}, 0.0)"
        yield Candidate(
            "guard_masked_rows",
            "a row that is masked as a whole is given equal weights; all others are untouched.",
            [case.source.edit(operand, guarded)],
        )
    if operation.name in ("softmax", "log_softmax", "logsumexp", "logaddexp"):
        least = f"torch.finfo(torch.{case.dtype}).min"
        yield Candidate(
            "finite_floor",
            "-inf is kept at the least finite number: the result is the same, and has a slope.",
            operation.wrap(operand, f"clamp(min={least})"),
        )


def _twice(case: Case, operand: cst.BaseExpression) -> tuple[str, str]:
    """Its text, and what stands for it behind that: a name where it may run only once."""
    source = case.source
    inner = primary(source, operand)
    if may_run_twice(source, operand):
        return inner, inner
    known = words(source.text)
    name = next((n for n in NAMES if n not in known), f"{NAMES[-1]}_")
    return f"({name} := {source.bare(operand)})", name
