"""exp of a number that is too large."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch.candidate import Candidate, Comparison
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.instrument import FIRED
from nanscope.fix.patch.operation import argument, imported, is_called, primary, pure
from nanscope.fix.rewrites.scope import (
    below,
    last_binding,
    may_run_twice,
    names_in,
    nodes_in,
    scope_of,
    stands_alone,
)

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
    yield from _shared(case, operand)
    shown = case.source.shown(operand)
    for limit in LIMITS[case.dtype]:
        yield Candidate(
            "clamp_before_exp",
            f"{shown} can be too large for exp; it is kept at {limit} or less.",
            operation.wrap(operand, f"clamp(max={limit})"),
        )


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
        for limit in LIMITS[case.dtype]:
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
