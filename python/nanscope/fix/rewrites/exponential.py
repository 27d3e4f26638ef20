"""exp of a number that is too large."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import libcst as cst

from nanscope.fix.patch.candidate import Candidate, Comparison
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.instrument import FIRED
from nanscope.fix.patch.operation import (
    Operation,
    argument,
    imported,
    is_called,
    primary,
    pure,
    read,
)
from nanscope.fix.rewrites.scope import (
    below,
    last_binding,
    may_run_twice,
    names_in,
    nodes_in,
    paired_value,
    scope_of,
    stands_alone,
    unused_lines,
    value_of,
)

# What gives the logarithm of a number: to bound it is to take another number.
OF_LOGARITHMS = {
    "lgamma", "gammaln", "mvlgamma", "multigammaln", "log", "log2", "log10", "log1p", "logsumexp",
    "logaddexp", "log_softmax", "logsigmoid", "logdet",
}  # fmt: skip
ON_BOTH_SIDES = ("sinh", "cosh")
LIMITS = {
    "float64": ("700.0", "300.0", "50.0"),
    "float32": ("80.0", "40.0", "20.0"),
    "bfloat16": ("80.0", "40.0", "20.0"),
    "float16": ("10.0", "5.0"),
}


def propose(case: Case) -> Iterator[Candidate]:
    operation = case.operation
    if operation is None or not operation.operands:
        return
    if operation.name not in ("exp", "exp2", "expm1", "sinh", "cosh"):
        return
    operand = operation.operands[0]
    yield from (replace(c, **_of_logarithm(case, c)) for c in _bounded(case, operation, operand))


def _of_logarithm(case: Case, candidate: Candidate) -> dict[str, object]:
    """`exp(lgamma(x))`: the number that is too large is a known one, and a bound is another."""
    made = read(case.source, value_of(case.source, case.operation.operands[0]))
    if made is None or made.name not in OF_LOGARITHMS:
        return {}
    note = f" It is another number then: stay with logarithms instead, here that of {made.name}."
    return {"workaround": True, "explanation": candidate.explanation + note}


def _bounded(case: Case, operation: Operation, operand: cst.BaseExpression) -> Iterator[Candidate]:
    yield from _shared(case, operand)
    shown, name = case.source.shown(operand), operation.name
    both = name in ON_BOTH_SIDES
    far = "far from 0" if both else "large"
    for limit in _limits(case):
        yield Candidate(
            "clamp_before_exp",
            f"{shown} can be too {far} for {name}; it is kept {_within(limit, both)}.",
            operation.wrap(operand, _clamp(limit, both)),
        )
    limit = LIMITS[case.dtype][0]
    beyond = f"what is beyond {limit}" if both else f"what is above {limit}"
    yield Candidate(
        "clamp_before_exp",
        f"{shown} grows until it is too {far} for {name}; it is kept {_within(limit, both)}, just "
        "before that. Better still, find out why it grows.",
        operation.wrap(operand, _clamp(limit, both)),
        alters=f"{beyond} counts as {limit}",
    )


def _within(limit: str, both: bool) -> str:
    return f"between -{limit} and {limit}" if both else f"at {limit} or less"


def _clamp(limit: str, both: bool) -> str:
    return f"clamp(-{limit}, {limit})" if both else f"clamp(max={limit})"


def _limits(case: Case) -> Iterable[str]:
    """The lowest with room above all healthy values first: what is mended stays near them."""
    facts = case.operand("self")
    sizes = [abs(x) for x in facts.healthy if isinstance(x, int | float)] if facts else []
    if not sizes:
        return LIMITS[case.dtype]
    roomy = [x for x in reversed(LIMITS[case.dtype]) if float(x) >= 2 * max(sizes)]
    return dict.fromkeys([*roomy, *LIMITS[case.dtype]])


def _shared(case: Case, operand: cst.BaseExpression) -> Iterator[Candidate]:
    """`logvar` of a VAE goes into several: it is bounded where it is made."""
    source = case.source
    for name in sorted(names_in(operand) - set(imported(source))):
        into = [
            node
            for node in nodes_in(source, scope_of(source, case.node))
            if is_called(source, node, "exp") and name in names_in(node)
        ]
        made = last_binding(source, name, case.node)
        if len(into) < 2 or made is None or not stands_alone(source, made):
            continue
        for limit in _limits(case):
            fired = f"bool(({name} > {limit}).any()) and __nanscope__.fired({FIRED})"
            yield Candidate(
                "clamp_before_exp",
                f"`{name}` can be too large for exp, which is taken of it {len(into)} times: it is "
                f"kept at {limit} or less.",
                [below(source, made, f"{name} = {name}.clamp(max={limit})")],
                fires=[below(source, made, fired)],
            )


def normalised(case: Case) -> Iterator[Candidate]:
    """`e = exp(x); e / e.sum(d)`: a softmax by hand. Less the largest, the quotient is the same."""
    source, node, operation = case.source, case.node, case.operation
    if operation is None or operation.name != "exp" or operation.in_place:
        return
    quotient = _quotient(case) if operation.operands else None
    if quotient is None:
        return
    operand = operation.operands[0]
    divided, dim = quotient
    x, inner = argument(source, operand), primary(source, operand)
    if divided.left is node:
        code = f"torch.softmax({x}, dim={dim})"
        why = "a softmax by hand overflows; torch's subtracts the largest first."
        edit = source.edit(divided, code)
        comparison = Comparison(
            source.path, *source.whole_span(divided), source.code(divided), code
        )
        yield Candidate("softmax", why, [edit], compare=comparison)
        return
    if not may_run_twice(source, operand):
        return
    shifted = f"{source.code(operand)} - {inner}.amax(dim={dim}, keepdim=True)"
    edit = source.edit(operand, shifted)
    name = source.code(divided.left)
    original = f"(lambda {name}: {source.code(divided)})({source.code(node)})"
    exp = source.code(node).replace(source.code(operand), shifted, 1)
    patched = f"(lambda {name}: {source.code(divided)})({exp})"
    comparison = Comparison(source.path, *source.whole_span(divided), original, patched)
    why = "only quotients of these are used: less the largest, they are the same and finite."
    yield Candidate("subtract_max", why, [edit], compare=comparison)


def tangent(case: Case) -> Iterator[Candidate]:
    """`(exp(x) - exp(-x)) / (exp(x) + exp(-x))`: a tanh by hand."""
    source = case.source
    if case.operation is None or case.operation.name != "exp":
        return
    for node in nodes_in(source, scope_of(source, case.node)):
        quotient = read(source, node) if isinstance(node, cst.BinaryOperation) else None
        if quotient is None or quotient.name != "div":
            continue
        factor, above = None, read(source, quotient.operands[0])
        if above is not None and above.name == "mul":  # `g * (a - b) / (a + b)`
            factor, above = above.operands[0], read(source, above.operands[1])
        below = read(source, quotient.operands[1])
        if above is None or below is None or (above.name, below.name) != ("sub", "add"):
            continue
        pair, other = [[source.bare(o) for o in each.operands] for each in (above, below)]
        exponents = [_exponent(source, o) for o in above.operands]
        if sorted(pair) != sorted(other) or None in exponents:
            continue
        x, minus = exponents
        negated = read(source, minus)
        if negated is None or negated.name != "neg":
            continue
        if source.bare(negated.operands[0]) != source.bare(x):
            continue
        code = f"torch.tanh({argument(source, x)})"
        code = code if factor is None else f"{source.code(factor)} * {code}"
        before = f"torch.exp({source.bare(x)})", f"torch.exp(-({source.bare(x)}))"
        by_hand = f"({before[0]} - {before[1]}) / ({before[0]} + {before[1]})"
        by_hand = by_hand if factor is None else f"{source.code(factor)} * ({by_hand})"
        comparison = Comparison(source.path, *source.whole_span(node), by_hand, code)
        why = "a tanh by hand overflows; torch's does not."
        edits = [*unused_lines(source, node, pair), source.edit(node, code)]
        yield Candidate("tanh", why, edits, compare=comparison)


def _exponent(source, node: cst.BaseExpression) -> cst.BaseExpression | None:
    exponential = pure(source, paired_value(source, node), "exp")
    return exponential.operands[0] if exponential is not None else None


def _quotient(case: Case) -> tuple[cst.BinaryOperation, str] | None:
    """The division `e / e.sum(dim)` that this exp goes into, by name or at once; and dim."""
    source, node = case.source, case.node
    parent = source.parent(node)
    name = None
    if isinstance(parent, cst.Assign) and isinstance(parent.targets[0].target, cst.Name):
        name = parent.targets[0].target.value
    for other in nodes_in(source, scope_of(source, node)):
        if not isinstance(other, cst.BinaryOperation) or not isinstance(other.operator, cst.Divide):
            continue
        left = other.left
        if not (left is node or (isinstance(left, cst.Name) and left.value == name)):
            continue
        total = pure(source, other.right, "sum")
        if total is None or "dtype" in total.keywords:
            continue
        dim = total.argument(1, "dim", "axis")
        if dim is not None and source.bare(total.operands[0]) == source.bare(left):
            return other, source.code(dim)
    return None
