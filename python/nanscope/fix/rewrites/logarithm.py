"""The logarithm of zero or less."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import libcst as cst

from nanscope.fix.candidate import Candidate, Comparison
from nanscope.fix.case import Case, written
from nanscope.fix.imports import functional
from nanscope.fix.operation import Operation, argument, is_one, primary, read
from nanscope.fix.rewrites import binary, layers, precise
from nanscope.fix.rewrites.scope import (
    PICKING,
    assigned,
    indentation,
    inlined,
    is_repeatable,
    made_unused,
    stands_alone,
    statement_of,
    value_of,
    words,
)
from nanscope.fix.source_file import Edit, SourceFile

SLOPE_ENDS = {"float64": "6e-309", "float32": "3e-39", "bfloat16": "3e-39"}  # 1 / x is finite
NAMES = ("logits", "scores", "before_softmax")
LOGARITHMS = {"log", "log2", "log10", "log1p", "xlogy"}


def propose(case: Case) -> Iterator[Candidate]:
    operation = case.operation
    if operation is None or operation.name not in LOGARITHMS or not operation.operands:
        return
    operand = operation.operands[-1] if operation.name == "xlogy" else operation.operands[0]
    if operation.name == "log":
        yield from binary.propose(case)
        yield from _fused(case, operation, operand)
        yield from _named(case, operation, operand)
        yield from precise.propose(case)
    facts = case.input("self", "saved self")
    leasts = [written(case.small(facts)), f"torch.finfo(torch.{case.dtype}).tiny"]
    if facts is not None and facts["subnormals"]:
        leasts[1] = SLOPE_ENDS.get(case.dtype, leasts[1])
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
    # Where healthy values are smaller than the usual bound:
    if _is_weighted_by(case, operand) and not operation.in_place:
        inner = primary(case.source, operand)
        yield Candidate(
            "one_for_zero",
            f"{shown} is 0 where its logarithm is multiplied by it, and 0 * log(1) is the limit.",
            [case.source.edit(operand, f"{inner}.masked_fill({inner} == 0, 1.0)")],
        )
    yield from clamps[1:]


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


def _fused(case: Case, operation: Operation, operand: cst.BaseExpression) -> Iterator[Candidate]:
    """A function that computes the logarithm and what is inside it in one, without the zero."""
    source = case.source
    if operation.in_place:
        return
    logs = _logs(source, operand)
    if logs is not None:
        yield _in_one(case, logs.name, logs.why, logs.code, logs.imports)
        return
    total = read(source, value_of(source, operand))
    if total is None or total.name != "sum" or not total.operands:
        return
    exponential = read(source, value_of(source, total.operands[0]))
    dim, keep = total.argument(1, "dim"), total.argument(2, "keepdim")
    if exponential is None or exponential.name != "exp" or not exponential.operands or dim is None:
        return
    options = f"dim={source.code(dim)}"
    options += f", keepdim={source.code(keep)}" if keep is not None else ""
    code = f"torch.logsumexp({argument(source, exponential.operands[0])}, {options})"
    why = "log(sum(exp)) under- and overflows; logsumexp computes it in one."
    yield _in_one(case, "logsumexp", why, code)


def _named(case: Case, operation: Operation, operand: cst.BaseExpression) -> Iterator[Candidate]:
    """`p = softmax(net(x), 1)`, `log(p)`: the net is not called twice, its result has a name."""
    source = case.source
    name = _picked_from(source, operand)
    value = assigned(source, name.value, operand) if name is not None else None
    made = read(source, value)
    statement = statement_of(source, value) if value is not None else None
    if made is None or made.name not in ("softmax", "sigmoid") or not made.operands:
        return
    if operation.in_place or not stands_alone(source, statement) or is_repeatable(source, value):
        return
    logits = next((n for n in NAMES if n not in words(source.text)), None)
    logs = _logs_of(made, logits) if logits is not None else None
    if logs is None:
        return
    (begin, end), (a, b) = source.span(operand), source.whole_span(name)
    code = source.text[begin:a] + logs.code + source.text[b:end]
    what, start = made.operands[0], source.span(statement)[0]
    gap = f"{source.newline}{indentation(source, statement)}"
    above = Edit(source.path, start, start, f"{logits} = {source.code(what)}{gap}")
    edits = [*logs.imports, above, source.edit(what, logits), source.edit(case.node, code)]
    before = source.text[slice(*source.span(case.node))]
    comparison = Comparison(source.path, *source.span(case.node), before, code)
    yield Candidate(logs.name, logs.why, edits, compare=comparison)


def _picked_from(source: SourceFile, node: cst.BaseExpression) -> cst.Name | None:
    """The name of which it picks elements, or itself."""
    while not isinstance(node, cst.Name):
        inner = read(source, node)
        if isinstance(node, cst.Subscript):
            node = node.value
        elif inner is not None and inner.operands and inner.name in PICKING:
            node = inner.operands[0]
        else:
            return None
    return node


@dataclass
class _Logs:
    """The logarithm of an expression, computed in one with it."""

    name: str
    why: str
    code: str
    imports: list[Edit] = field(default_factory=list)


def _logs(
    source: SourceFile, node: cst.BaseExpression, near: cst.CSTNode | None = None
) -> _Logs | None:
    """Of a softmax or a sigmoid, and of what only picks elements of one; as written at `near`."""
    near = near or node
    node = value_of(source, node, near)
    inner = read(source, node)
    picked = node.value if isinstance(node, cst.Subscript) else None
    if inner is not None and inner.operands and inner.name in PICKING and not inner.in_place:
        picked = inner.operands[0]
    if picked is not None:
        logs = _logs(source, picked, near)
        if logs is None:
            return None
        (begin, end), (a, b) = source.span(node), source.whole_span(picked)
        logs.code = source.text[begin:a] + logs.code + source.text[b:end]
        return logs
    if inner is None or not inner.operands:
        return None
    if inner.name in ("softmax", "sigmoid"):
        return _logs_of(inner, argument(source, inner.operands[0]))
    if inner.name == "sub" and is_one(inner.operands[0]):
        sigmoid = read(source, value_of(source, inner.operands[1], near))
        if sigmoid is not None and sigmoid.name == "sigmoid" and sigmoid.operands:
            prefix, imports = functional(source)
            code = f"{prefix}.logsigmoid(-{primary(source, sigmoid.operands[0])})"
            why = "log(1 - sigmoid(x)) is logsigmoid(-x), which does not underflow."
            return _Logs("logsigmoid", why, code, imports)
    return None


def _logs_of(operation: Operation, given: str) -> _Logs | None:
    """The logarithm of softmax or sigmoid, of `given`."""
    if operation.name == "softmax":
        dim = layers.option(operation, 1, "dim", of="Softmax")
        why = "log(softmax) underflows; log_softmax computes both in one."
        code = f"torch.log_softmax({given}, dim={dim})"
        return _Logs("log_softmax", why, code) if dim is not None else None
    prefix, imports = functional(operation.source)
    why = "log(sigmoid) underflows; logsigmoid computes both in one."
    return _Logs("logsigmoid", why, f"{prefix}.logsigmoid({given})", imports)


def _in_one(
    case: Case, name: str, why: str, code: str, more: list[Edit] | None = None
) -> Candidate:
    """Compared as functions of what goes into both, also where a name stands between."""
    source, node = case.source, case.node
    comparison = Comparison(source.path, *source.span(node), inlined(source, node, code), code)
    edits = [*(more or []), *made_unused(source, node, code), source.edit(node, code)]
    return Candidate(name, why, edits, compare=comparison)
