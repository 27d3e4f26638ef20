"""Square roots and powers: of a negative number, or with an infinite slope at zero."""

from __future__ import annotations

from collections.abc import Iterator

from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.case import Case, written
from nanscope.fix.patch.operation import Operation, added
from nanscope.fix.rewrites import norms

POWER_AT_ZERO = {
    "float64": [1e-24, 1e-36, 1e-12],
    "float32": [1e-12, 1e-18, 1e-8],
    "float16": [1e-7, 1e-4],
    "bfloat16": [1e-12, 1e-6],
}
UNDER_ROOT = {"float64": 1e-24, "float32": 1e-12, "float16": 1e-7, "bfloat16": 1e-12}


def propose(case: Case) -> Iterator[Candidate]:
    operation = case.operation
    if (
        operation is None
        or operation.name not in ("sqrt", "rsqrt", "pow")
        or not operation.operands
    ):
        return
    if case.backward:
        yield from norms.as_vector_norm(case, operation)
    base = operation.operands[0]
    facts = case.operand("self")
    at_zero = case.backward and not (facts and facts.negatives)
    leasts = [UNDER_ROOT[case.dtype], case.small(facts)] if at_zero else [case.small(facts)]
    if operation.name == "pow":
        leasts = POWER_AT_ZERO[case.dtype] if at_zero else [case.small(facts), 1e-6]
    sloped = case.backward or facts is None or facts.requires_grad
    if operation.name == "sqrt" and case.cause == "cancellation" and not sloped:
        leasts.insert(0, 0)  # no slope is asked for
    shown = case.source.shown(base)
    why = "its root has an infinite slope there" if at_zero else "its root is NaN there"
    if operation.name == "pow":
        why = "the power (or its slope) is not finite there"
    state = "0" if at_zero else "0 or less"
    if case.backward and operation.name == "pow" and facts is not None and facts.negatives:
        yield Candidate(
            "clamp_before_pow",
            f"{shown} can be negative, and there the power has no slope in its exponent: it is "
            "kept at 1e-6 or more.",
            operation.wrap(base, "clamp(min=1e-6)"),
            alters="what is negative counts as 1e-6",
        )
    for least in dict.fromkeys(leasts):
        bound = "0" if least == 0 else written(least)
        yield Candidate(
            f"clamp_before_{'pow' if operation.name == 'pow' else 'sqrt'}",
            f"{shown} can be {state}, and {why}; it is kept at {bound} or more.",
            operation.wrap(base, f"clamp(min={bound})"),
        )
    if at_zero and operation.name != "pow":
        yield _added(case, operation, written(UNDER_ROOT[case.dtype]))


def _added(case: Case, operation: Operation, eps: str) -> Candidate:
    base = operation.operands[0]
    return Candidate(
        "eps_inside_sqrt",
        "the root has an infinite slope at 0: a small number is added inside.",
        added(case.source, base, eps),
    )
