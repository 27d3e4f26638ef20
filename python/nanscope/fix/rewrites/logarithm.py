"""The logarithm of zero or less."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.case import Case, written
from nanscope.fix.patch.operation import primary, read
from nanscope.fix.rewrites import binary, fused, precise
from nanscope.fix.rewrites.counts import is_count, to_be_seen
from nanscope.fix.rewrites.scope import may_run_twice

SLOPE_ENDS = {"float64": "5.57e-309", "float32": "2.94e-39"}  # from here on 1 / x is finite
UNDERFLOWN = {"float64": 1e-200, "float32": 1e-25}
PLAIN = {"log", "log2", "log10"}
LOGARITHMS = PLAIN | {"log1p", "xlogy"}


def propose(case: Case) -> Iterator[Candidate]:
    operation = case.operation
    if operation is None or operation.name not in LOGARITHMS or not operation.operands:
        return
    operand = operation.operands[-1] if operation.name == "xlogy" else operation.operands[0]
    yield from fused.of_tanh(case)
    if operation.name == "log":
        yield from binary.propose(case)
        if not _is_exact_zero(case, operand):
            yield from fused.propose(case)
        yield from precise.propose(case)
    facts = case.operand("self")
    if operation.name != "log1p" and is_count(case, operand, facts):
        yield Candidate(
            "clamp_before_log",
            f"{case.source.shown(operand)} counts, and nothing may be counted: the logarithm is "
            "taken of at least 1. (`log1p` is another function, and has no such edge.)",
            operation.wrap(operand, "clamp(min=1)"),
            count=to_be_seen(case, operand, facts),
        )
    if underflows(case) and not _is_weighted_by(case, operand):
        return  # what is bounded has no slope any more: it has to be computed in log space
    leasts = [written(case.small(facts)), f"torch.finfo(torch.{case.dtype}).tiny"]
    if case.dtype in SLOPE_ENDS:
        leasts.append(SLOPE_ENDS[case.dtype])
    shown = case.source.shown(operand)
    if operation.name == "log1p":
        leasts = [f"-1.0 + {leasts[0]}"]
    clamps = [
        Candidate(
            "clamp_before_log",
            f"{shown} can be 0 or less; it is kept at {least} or more before the logarithm.",
            operation.wrap(operand, f"clamp(min={least})"),
        )
        for least in leasts
    ]
    yield clamps[0]
    if operation.name == "log" and _is_exact_zero(case, operand):
        yield from fused.propose(case)
    # Where healthy values are smaller than the usual bound:
    weighted = _is_weighted_by(case, operand) and not operation.in_place
    if weighted and may_run_twice(case.source, operand):
        inner = primary(case.source, operand)
        yield Candidate(
            "one_for_zero",
            f"{shown} is 0 where its logarithm is multiplied by it, and 0 * log(1) is the limit.",
            [case.source.edit(operand, f"{inner}.masked_fill({inner} == 0, 1.0)")],
        )
    yield from clamps[1:]


def underflows(case: Case) -> bool:
    """Healthy values come down to the end of the type: the zero is one of them, rounded away."""
    facts = case.operand("self")
    sizes = [abs(x) for x in facts.healthy if isinstance(x, int | float) and x] if facts else []
    return case.dtype in SLOPE_ENDS and bool(sizes) and min(sizes) < UNDERFLOWN[case.dtype]


def _is_exact_zero(case: Case, operand: cst.BaseExpression) -> bool:
    """`p * log(p)` where p is a mask's doing, no underflow: in log space it is 0 * -inf, too."""
    facts, made_again = case.operand("self"), case.finding.cause.experiments
    zero = facts is not None and 0 in facts.at_index
    lost = any(one.exactly is not None for one in made_again)
    return zero and bool(made_again) and not lost and _is_weighted_by(case, operand)


def _is_weighted_by(case: Case, operand: cst.BaseExpression) -> bool:
    """`p * log(p)`, `p * (log(p) - log(q))`: 0 where p is."""
    source, inner = case.source, case.node
    for outer in source.parents(case.node):
        around = read(source, outer) if isinstance(outer, cst.BaseExpression) else None
        if around is None or around.name not in ("mul", "add", "sub", "neg"):
            return False
        others = [o for o in around.operands if o is not inner]
        if around.name == "mul":
            return any(source.bare(o) == source.bare(operand) for o in others)
        inner = outer
    return False
