"""Differences from 1 that cancel to nothing: expm1 and log1p keep their digits."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch.candidate import Candidate, Comparison
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.imports import functional
from nanscope.fix.patch.operation import alone, argument, is_one, primary, pure, read
from nanscope.fix.patch.source_file import SourceFile
from nanscope.fix.rewrites import division
from nanscope.fix.rewrites.scope import inlined, may_run_twice

OF_FIRST = {"log", "log2", "log10", "sqrt", "rsqrt", "reciprocal"}


def propose(case: Case) -> Iterator[Candidate]:
    """`log(1 - exp(x))`, `y / (exp(x) - 1)`, `y / log(1 + x)`: where x is small, 0."""
    operation = case.operation
    if operation is None or not operation.operands or operation.in_place:
        return
    source = case.source
    operand = operation.operands[0] if operation.name in OF_FIRST else None
    operand = operand or division.divisor_of(operation)
    found = precise(source, operand) if operand is not None else None
    if found is not None:
        code, name, spelled = found
        yield Candidate(
            name,
            f"`{spelled}` is exactly 0 where its argument is small: {name} keeps the digits.",
            [source.edit(operand, code)],
            equal=True,
        )


def precise(source: SourceFile, node: cst.BaseExpression) -> tuple[str, str, str] | None:
    """The same without the cancellation, its name, and how it is spelled now."""
    whole = read(source, node)
    if whole is None or not whole.operands:
        return None
    spelled = " ".join(source.bare(node).split())
    if whole.name == "sub" and len(whole.operands) == 2:
        a, b = whole.operands
        exponential = pure(source, b if is_one(a) else a, "exp")
        if exponential is None:
            return None
        code = f"torch.expm1({argument(source, exponential.operands[0])})"
        if is_one(a):
            return alone(source, node, f"-{code}"), "expm1", spelled
        return (code, "expm1", spelled) if is_one(b) else None
    if whole.name == "log" and (x := _less_one(source, whole.operands[0])) is not None:
        return f"torch.log1p({x})", "log1p", spelled
    return None


def _less_one(source: SourceFile, node: cst.BaseExpression) -> str | None:
    """x of `1 + x` or `x + 1`; -x of `1 - x`."""
    total = read(source, node)
    if total is None or total.form != "binary":
        return None
    a, b = total.operands
    if total.name == "add" and (is_one(a) or is_one(b)):
        return argument(source, b if is_one(a) else a)
    return f"-{primary(source, b)}" if total.name == "sub" and is_one(a) else None


def of_overflow(case: Case) -> Iterator[Candidate]:
    """`log(1 + exp(x))` is softplus, `log(exp(x) - 1)` its inverse: without the exponential."""
    source, node, operation = case.source, case.node, case.operation
    if operation is None or operation.name != "exp" or operation.in_place:
        return
    sum_node = _around(source, node)
    if sum_node is None:
        return
    total, log_node = read(source, sum_node), _around(source, sum_node)
    x = operation.operands[0]
    prefix, more = functional(source)
    softplus = f"{prefix}.softplus({argument(source, x)})"
    if total.name == "log1p":
        yield _softplus(source, sum_node, softplus, more)
        return
    log = read(source, log_node) if log_node is not None else None
    if log is None or log.name != "log" or total.form != "binary":
        return
    if total.name == "add" and any(is_one(o) for o in total.operands):
        yield _softplus(source, log_node, softplus, more)
    elif total.name == "sub" and is_one(total.operands[1]) and may_run_twice(source, x):
        a, inner = source.code(x), primary(source, x)
        code = alone(source, log_node, f"{a} + torch.log(-torch.expm1(-{inner}))")
        yield _of_whole(
            source, log_node, code, "expm1", "log(exp(x) - 1) overflows; x + log(1 - exp(-x)) not."
        )


def _softplus(source: SourceFile, node, code: str, more) -> Candidate:
    why = "log(1 + exp(x)) overflows; softplus computes it in one."
    return _of_whole(source, node, code, "softplus", why, more)


def _of_whole(source: SourceFile, node, code: str, name: str, why: str, more=()) -> Candidate:
    comparison = Comparison(
        source.path, *source.whole_span(node), inlined(source, node, code), code
    )
    return Candidate(name, why, [*more, source.edit(node, code)], equal=True, compare=comparison)


def _around(source: SourceFile, node: cst.CSTNode) -> cst.BaseExpression | None:
    """The operation that an expression is an operand of."""
    outer = source.parent(node)
    outer = source.parent(outer) if isinstance(outer, cst.Attribute | cst.Arg) else outer
    around = read(source, outer) if isinstance(outer, cst.BaseExpression) else None
    return outer if around is not None and node in around.operands else None
