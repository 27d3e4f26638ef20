"""A divisor that is zero."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.findings import TensorFacts
from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.case import Case, written
from nanscope.fix.patch.operation import Operation, added, append, primary
from nanscope.fix.rewrites.scope import may_run_twice

WHOLE = 1 << 20  # counts are whole numbers not above this


def propose(case: Case) -> Iterator[Candidate]:
    operation = case.operation
    divisor = divisor_of(operation)
    if divisor is None:
        return
    facts = case.input("other", "saved other")
    if operation.name in ("reciprocal", "rsqrt", "pow"):
        facts = case.input("self", "saved self", "saved result")
    name = case.source.bare(divisor)
    shown = case.source.shown(divisor)
    if facts is None and not case.backward and case.input("self") is not None:
        yield Candidate(
            "largest_of_divisor_and_one",
            f"{shown} is a number and can be 0: at least 1 is divided by.",
            [case.source.edit(divisor, f"max({name}, 1)")],
        )
    if facts is not None and _counts(facts):
        yield _clamp(case, operation, divisor, "1", f"{shown} counts, and nothing may be counted.")
    small = written(case.small(facts))
    if facts is None or facts.negatives == 0:
        why = f"{shown} can be 0; it is kept at {small} or more."
        yield _clamp(case, operation, divisor, small, why)
    has_both_signs = facts is None or facts.negatives > 0
    if has_both_signs and may_run_twice(case.source, divisor):
        inner = primary(case.source, divisor)
        yield Candidate(
            "replace_zero_divisor",
            f"{shown} can be 0 and has both signs: only exact zeros are replaced.",
            [case.source.edit(divisor, f"{inner}.masked_fill({inner} == 0, {small})")],
        )
    if operation.form != "unary" and (facts is None or facts.negatives == 0):
        yield Candidate(
            "eps_in_divisor",
            f"{shown} can be 0: a small number is added.",
            added(case.source, divisor, small),
        )


def divisor_of(operation: Operation | None) -> cst.BaseExpression | None:
    if operation is None or not operation.operands:
        return None
    if operation.name == "div":
        return operation.argument(1, "other")
    if operation.name in ("reciprocal", "rsqrt"):
        return operation.operands[0]
    if operation.name == "pow" and _is_negative(operation.argument(1, "exponent")):
        return operation.operands[0]
    return None


def _is_negative(node: cst.BaseExpression | None) -> bool:
    return isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus)


def _clamp(case: Case, operation: Operation, divisor, least: str, why: str) -> Candidate:
    edits = operation.wrap(divisor, f"clamp(min={least})")
    if operation.form == "augmented":
        edits = append(case.source, divisor, f".clamp(min={least})")
    return Candidate("clamp_divisor", why, edits)


def _counts(facts: TensorFacts) -> bool:
    """Whole numbers from 0 up, as far as least, largest and mean tell."""
    if facts.dtype.startswith("int"):
        return True
    least, largest, mean = facts.min, facts.max, facts.mean
    if least != 0 or largest is None or mean is None or facts.subnormals:
        return False
    if not 1 <= largest <= WHOLE:
        return False
    count = 1
    for side in facts.shape:
        count *= side
    total = mean * count
    return float(largest).is_integer() and abs(total - round(total)) < 1e-3
