"""Rows of which nothing is left: softmax and logsumexp over -inf alone."""

from __future__ import annotations

from collections.abc import Iterator

from nanscope.fix.candidate import Candidate
from nanscope.fix.case import Case
from nanscope.fix.operation import primary
from nanscope.fix.rewrites.scope import may_run_twice


def propose(case: Case) -> Iterator[Candidate]:
    operation = case.operation
    if operation is None or not operation.operands:
        return
    operand = operation.operands[0]
    dim = operation.argument(1, "dim")
    is_softmax = operation.name in ("softmax", "log_softmax") and dim is not None
    if is_softmax and may_run_twice(case.source, operand):
        inner, d = primary(case.source, operand), case.source.code(dim)
        guarded = f"{inner}.masked_fill({inner}.isneginf().all(dim={d}, keepdim=True), 0.0)"
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
