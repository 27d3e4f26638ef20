"""A divisor that is zero."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from nanscope.findings import TensorFacts
from nanscope.fix.patch.candidate import Candidate, Comparison
from nanscope.fix.patch.case import Case, written
from nanscope.fix.patch.operation import Operation, added, alone, append, argument, primary, pure
from nanscope.fix.rewrites.counts import can_count, is_count, to_be_seen
from nanscope.fix.rewrites.scope import may_run_twice, value_of

SMALL_NUMBER = {"float16": "1e-3", "bfloat16": "1e-5"}  # a number of Python: else 1e-5


def propose(case: Case) -> Iterator[Candidate]:
    """Guards are for the odd element: where all are 0, and what is divided is not, they hide."""
    facts, numerator = case.operand("other"), case.operand("self")
    several = facts is not None and math.prod(facts.shape) > 1
    hides = several and facts.zeros == math.prod(facts.shape) and _is_nonzero(numerator)
    for candidate in _guards(case):
        yield replace(candidate, workaround=True) if hides else candidate


def _guards(case: Case) -> Iterator[Candidate]:
    operation = case.operation
    divisor = divisor_of(operation)
    if divisor is None:
        return
    facts = case.operand("other")
    inverted = case.origin.op.startswith("aten::reciprocal")  # `1 / x` is x.reciprocal()
    if inverted or operation.name in ("reciprocal", "rsqrt", "pow"):
        facts = case.operand("self") or case.saved("result")
    if facts is None and case.number("other") is not None:
        yield from _of_number(case, divisor)
        return
    shown = case.source.shown(divisor)
    yield from _bounded(case, operation, divisor)
    if is_count(case, divisor, facts):
        counted = _clamp(
            case, operation, divisor, "1", f"{shown} counts, and nothing may be counted."
        )
        yield replace(counted, count=to_be_seen(case, divisor, facts))
    elif _may_count(case, divisor, facts):
        why = f"{shown} counts, and nothing may be counted."
        yield replace(_clamp(case, operation, divisor, "1", why), count=case.source.bare(divisor))
    numerator = case.operand("self")
    if inverted or operation.name == "div" and _is_nonzero(numerator):
        yield from _zero_there(case, operation, divisor, facts)
    small = written(case.small(facts))
    if facts is None or facts.negatives == 0:
        why = f"{shown} can be 0; it is kept at {small} or more."
        yield _clamp(case, operation, divisor, small, why)
    yield from _replaced(case, divisor, facts)
    if operation.form != "unary" and (facts is None or facts.negatives == 0):
        yield Candidate(
            "eps_in_divisor",
            f"{shown} can be 0: a small number is added.",
            added(case.source, divisor, small),
        )


def _of_number(case: Case, divisor: cst.BaseExpression) -> Iterator[Candidate]:
    """A number of Python: at least 1 if it counts; else no number that one could pass is moved."""
    name, shown = case.source.bare(divisor), case.source.shown(divisor)
    if is_count(case, divisor, None):
        yield Candidate(
            "largest_of_divisor_and_one",
            f"{shown} is a count and can be 0: at least 1 is divided by.",
            [case.source.edit(divisor, f"max({name}, 1)")],
        )
    least = SMALL_NUMBER.get(case.dtype, "1e-5")
    yield Candidate(
        "largest_of_divisor_and_small",
        f"{shown} is a number and can be 0: at least {least} is divided by. Better still, do "
        "not let it become 0 where it is set.",
        [case.source.edit(divisor, f"max({name}, {least})")],
    )


def _may_count(case: Case, divisor: cst.BaseExpression, facts: TensorFacts | None) -> bool:
    """A sum of what one cannot see here: the run shows whether it takes whole numbers only."""
    total = pure(case.source, value_of(case.source, divisor), "sum")
    return total is not None and (facts is None or can_count(facts))


def _bounded(case: Case, operation: Operation, divisor: cst.BaseExpression) -> Iterator[Candidate]:
    """`x.clamp(max=g) / x` is `g / x.clamp(min=g)`, for positive g: at 0 it is 1."""
    source = case.source
    above = pure(source, operation.operands[0], "clamp", "clamp_max")
    if operation.name != "div" or operation.in_place or above is None:
        return
    most = above.keywords.get("max")
    if above.name == "clamp_max":
        most = above.argument(1, "max")
    elif len(above.operands) != 1 or set(above.keywords) != {"max"}:
        return
    if most is None or source.bare(above.operands[0]) != source.bare(divisor):
        return
    bound = source.code(most)
    code = f"{bound} / {primary(source, divisor)}.clamp(min={bound})"
    yield Candidate(
        "bound_the_divisor",
        f"{source.shown(divisor)} can be 0, where the quotient comes to 1: with the bound below it "
        "instead of above, it is 1 there.",
        [source.edit(operation.node, alone(source, operation.node, code))],
    )


def angle(case: Case) -> Iterator[Candidate]:
    """`atan(a / b)` is `atan2(a, b)` where b is not negative, and knows what to do at 0."""
    source, quotient = case.source, case.operation
    if quotient is None or quotient.name != "div" or quotient.form == "augmented":
        return
    outer = source.parent(case.node)
    outer = source.parent(outer) if isinstance(outer, cst.Arg | cst.Attribute) else outer
    around = pure(source, outer, "atan", "arctan") if isinstance(outer, cst.Call) else None
    facts = case.operand("other")
    if around is None or around.operands != [case.node] or (facts and facts.negatives):
        return
    a, b = (argument(source, operand) for operand in quotient.operands[:2])
    code = f"torch.atan2({a}, {b})"
    compare = Comparison(source.path, *source.whole_span(outer), source.code(outer), code)
    why = "the angle of a ratio is not known at 0 / 0; atan2 takes both sides of it."
    yield Candidate("atan2", why, [source.edit(outer, code)], compare=compare)


def _replaced(case: Case, divisor: cst.BaseExpression, facts: TensorFacts | None):
    """Exact zeros become as large as the others are: neither the value nor its slope stands out."""
    if not may_run_twice(case.source, divisor):
        return
    inner, size = primary(case.source, divisor), written(typical(facts))
    yield Candidate(
        "replace_zero_divisor",
        f"{case.source.shown(divisor)} can be 0: there {size} is divided by, all else is kept.",
        [case.source.edit(divisor, f"{inner}.masked_fill({inner} == 0, {size})")],
    )


def _zero_there(case: Case, operation: Operation, divisor, facts: TensorFacts | None):
    """What is divided is not 0, and any quotient would be made up: an absent class weighs 0."""
    source = case.source
    if operation.form not in ("binary", "function") or operation.name != "div":
        return
    if operation.in_place or not may_run_twice(source, divisor) or operation.keywords:
        return
    if len(operation.operands) != 2:
        return
    inner, size = primary(source, divisor), written(typical(facts))
    over = f"{source.code(operation.operands[0])} / {inner}"
    if case.finding.makers or case.backward:  # else its slope would not be finite
        over += f".masked_fill({inner} == 0, {size})"
    code = f"({over}).masked_fill({inner} == 0, 0.0)"
    yield Candidate(
        "zero_for_zero_divisor",
        f"{source.shown(divisor)} can be 0, and what is divided is not: the quotient is 0 there.",
        [source.edit(operation.node, code)],
    )


def typical(facts: TensorFacts | None) -> float:
    """A power of ten like the values that were healthy."""
    sizes = [abs(x) for x in facts.healthy if isinstance(x, int | float) and x] if facts else []
    if not sizes:
        return 1.0
    middle = sorted(sizes)[len(sizes) // 2]
    return 1.0 if 0.05 <= middle <= 20 else 10.0 ** round(math.log10(middle))


def _is_nonzero(facts: TensorFacts | None) -> bool:
    return facts is not None and any(x != 0 for x in facts.at_index)


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
