"""Functions that compute a logarithm and what is inside it in one: log_softmax, logsumexp, ..."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import libcst as cst

from nanscope.fix.patch.candidate import Candidate, Comparison
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.imports import functional
from nanscope.fix.patch.operation import Operation, alone, argument, is_one, primary, pure, read
from nanscope.fix.patch.source_file import Edit, SourceFile
from nanscope.fix.rewrites import layers
from nanscope.fix.rewrites.scope import (
    PICKING,
    assigned,
    indentation,
    inlined,
    is_repeatable,
    made_unused,
    may_run_twice,
    nodes_in,
    scope_of,
    stands_alone,
    statement_of,
    value_of,
    words,
)
from nanscope.fix.rewrites.variance import base_of_square

OF_SUM = {"input", "dim", "axis", "keepdim"}
NAMES = ("logits", "scores", "before_softmax")


def of_tanh(case: Case) -> Iterator[Candidate]:
    """`log(1 - tanh(u) ** 2)`, `log1p(-a.pow(2))`: from what the tanh was taken of."""
    source, log = case.source, pure(case.source, case.node, "log", "log1p")
    if log is None or len(log.operands) != 1:
        return
    inner = read(source, value_of(source, log.operands[0]))
    if inner is None:
        return
    less = inner.operands[-1] if inner.operands else None
    is_difference = inner.name == "sub" and len(inner.operands) == 2 and is_one(inner.operands[0])
    if not (is_difference if log.name == "log" else inner.name == "neg"):
        return
    root = base_of_square(source, less)
    tanh = pure(source, value_of(source, root), "tanh") if root is not None else None
    if tanh is None or len(tanh.operands) != 1:
        return
    u = tanh.operands[0]
    if not may_run_twice(source, u):
        return
    prefix, imports = functional(source)
    minus_two = f"-2 * {primary(source, u)}"
    code = f"2 * (0.6931471805599453 - {source.code(u)} - {prefix}.softplus({minus_two}))"
    node = case.node
    placed = alone(source, node, code)
    why = (
        "tanh rounds to 1, and the logarithm of what is left is lost: log(1 - tanh(u)^2) is "
        "2 * (log(2) - u - softplus(-2 u))."
    )
    comparison = Comparison(
        source.path, *source.whole_span(node), inlined(source, node, code), placed
    )
    yield Candidate("log_of_tanh", why, [*imports, source.edit(node, placed)], compare=comparison)


def propose(case: Case) -> Iterator[Candidate]:
    """Fuses the logarithm that failed with what it is taken of."""
    operation = pure(case.source, case.node, "log")
    if operation is None:
        return
    logs = _logs(case.source, operation.operands[0])
    if logs is not None:
        yield _in_one(case.source, case.node, logs)
    yield from _named(case, operation)


def around(case: Case) -> Iterator[Candidate]:
    """Fuses an exponential that failed with the logarithm that is taken of it in the end."""
    source = case.source
    if pure(source, case.node, "exp") is None:
        return
    for node in nodes_in(source, scope_of(source, case.node)):
        log = pure(source, node, "log")
        if log is None:
            continue
        logs = _logs(source, log.operands[0])
        if logs is None or not any(source.holds(one, case.node) for one in logs.replaced):
            continue
        candidate = _in_one(source, node, logs)
        place = source.span(case.node)[0]
        if any(edit.begin <= place < edit.end for edit in candidate.edits):  # else it stays
            yield candidate


@dataclass
class _Logs:
    """The logarithm of an expression, computed in one with it."""

    name: str
    why: str
    code: str
    imports: list[Edit] = field(default_factory=list)
    replaced: list[cst.CSTNode] = field(default_factory=list)  # what is computed no more
    is_difference: bool = False


def _logs(
    source: SourceFile, node: cst.BaseExpression, near: cst.CSTNode | None = None
) -> _Logs | None:
    """Writes the logarithm of what has one, or picks elements of that; as it reads at `near`."""
    near = near or node
    node = value_of(source, node, near)
    inner = read(source, node)
    picked = node.value if isinstance(node, cst.Subscript) else None
    if inner is not None and inner.operands and inner.name in PICKING and not inner.in_place:
        picked = inner.operands[0]
    if picked is not None:
        logs = _logs(source, picked, near)
        if logs is not None:
            code = f"({logs.code})" if logs.is_difference else logs.code
            (begin, end), (a, b) = source.span(node), source.whole_span(picked)
            logs.code, logs.is_difference = source.text[begin:a] + code + source.text[b:end], False
        return logs
    inner = pure(source, node, "softmax", "sigmoid", "sub", "sum", "div", "exp", "prod")
    if inner is None:
        return None
    match inner.name:
        case "softmax" | "sigmoid":
            return _of_function(inner, argument(source, inner.operands[0]))
        case "exp":
            return _of_exponential(inner)
        case "sub":
            return _of_complement(inner, near)
        case "prod":
            return _of_product(inner, near)
        case "sum":
            return _of_sum(inner, near)
        case "div":
            return _of_quotient(inner, near)
    return None


def _of_function(operation: Operation, given: str) -> _Logs | None:
    """The logarithm of softmax or sigmoid, of `given`."""
    if operation.name == "softmax":
        return _of_softmax(operation, given)
    if len(operation.operands) != 1 or not layers.is_torchs(operation, "Sigmoid"):
        return None
    prefix, imports = functional(operation.source)
    why = "log(sigmoid) underflows; logsigmoid computes both in one."
    return _Logs("logsigmoid", why, f"{prefix}.logsigmoid({given})", imports)


def _of_softmax(operation: Operation, given: str) -> _Logs | None:
    dim, dtype = layers.option(operation, 1, "dim", of="Softmax"), operation.keywords.get("dtype")
    if dim is None or len(operation.operands) > 2:
        return None
    options = f"dim={dim}"
    options += f", dtype={operation.source.code(dtype)}" if dtype is not None else ""
    why = "log(softmax) underflows; log_softmax computes both in one."
    return _Logs("log_softmax", why, f"torch.log_softmax({given}, {options})")


def _of_exponential(exponential: Operation) -> _Logs | None:
    """`log(exp(x))`"""
    if len(exponential.operands) != 1:
        return None
    source, what = exponential.source, exponential.operands[0]
    why = "exp underflows before its logarithm is taken, which is the exponent itself."
    code = primary(source, what)
    return _Logs("log_space", why, code, replaced=[exponential.node])


def _of_complement(difference: Operation, near: cst.CSTNode) -> _Logs | None:
    """`1 - sigmoid(x)`"""
    source = difference.source
    sigmoid = pure(source, value_of(source, difference.operands[-1], near), "sigmoid")
    if not is_one(difference.operands[0]) or difference.keywords or sigmoid is None:
        return None
    if not layers.is_torchs(sigmoid, "Sigmoid"):
        return None
    prefix, imports = functional(source)
    code = f"{prefix}.logsigmoid(-{primary(source, sigmoid.operands[0])})"
    why = "log(1 - sigmoid(x)) is logsigmoid(-x), which does not underflow."
    return _Logs("logsigmoid", why, code, imports)


def _of_sum(total: Operation, near: cst.CSTNode) -> _Logs | None:
    """`exp(x).sum(dim)`"""
    source = total.source
    exponential = pure(source, value_of(source, total.operands[0], near), "exp")
    dim, keep = total.argument(1, "dim", "axis"), total.argument(2, "keepdim")
    if exponential is None or dim is None or set(total.keywords) - OF_SUM:
        return None
    options = f"dim={source.code(dim)}"
    options += f", keepdim={source.code(keep)}" if keep is not None else ""
    code = f"torch.logsumexp({argument(source, exponential.operands[0])}, {options})"
    why = "log(sum(exp)) under- and overflows; logsumexp computes it in one."
    return _Logs("logsumexp", why, code, replaced=[exponential.node])


def _of_product(product: Operation, near: cst.CSTNode) -> _Logs | None:
    """`p.prod(dim)`"""
    source, factors = product.source, product.operands[0]
    if set(product.keywords) - OF_SUM or len(product.operands) > 3:
        return None
    options = [source.code(node) for node in product.operands[1:]]
    options += [f"{name}={source.code(node)}" for name, node in product.keywords.items()]
    logs = _logs(source, factors, near)
    if logs is None:
        logs = _Logs("", "", f"torch.log({argument(source, factors)})")
    code = f"({logs.code})" if logs.is_difference else logs.code
    return _Logs(
        "sum_of_logarithms",
        "a product of many small numbers underflows; its logarithm is the sum of theirs.",
        f"{code}.sum({', '.join(o for o in options if not o.startswith('input='))})",
        logs.imports,
        logs.replaced,
    )


def _of_quotient(quotient: Operation, near: cst.CSTNode) -> _Logs | None:
    """`exp(x) / y`, if there is one of y."""
    source = quotient.source
    above = pure(source, value_of(source, quotient.operands[0], near), "exp")
    below = _logs(source, quotient.operands[-1], near)
    if above is None or below is None or len(quotient.operands) != 2 or quotient.keywords:
        return None
    what = above.operands[0]
    loose = isinstance(what, cst.Name | cst.Attribute | cst.Call | cst.Subscript)
    below.code = f"{source.code(what) if loose else primary(source, what)} - {below.code}"
    below.is_difference = True
    below.replaced.append(above.node)
    below.why = "the logarithm of a quotient of exponentials is a difference: it cannot overflow."
    return below


def _in_one(source: SourceFile, node: cst.BaseExpression, logs: _Logs) -> Candidate:
    """Compared as functions of what goes into both, also where a name stands between."""
    code = alone(source, node, logs.code) if logs.is_difference else logs.code
    before = inlined(source, node, code)
    comparison = Comparison(source.path, *source.whole_span(node), before, code)
    edits = [*logs.imports, *made_unused(source, node, code), source.edit(node, code)]
    return Candidate(logs.name, logs.why, edits, equal=True, compare=comparison)


def _named(case: Case, operation: Operation) -> Iterator[Candidate]:
    """`p = softmax(net(x), 1)`, `log(p)`: the net is not called twice, its result has a name."""
    source, operand = case.source, operation.operands[0]
    name = _picked_from(source, operand)
    value = assigned(source, name.value, operand) if name is not None else None
    made = pure(source, value, "softmax", "sigmoid")
    if made is None:
        return
    statement = statement_of(source, value)
    if not stands_alone(source, statement) or is_repeatable(source, value):
        return
    logits = next((n for n in NAMES if n not in words(source.text)), None)
    logs = _of_function(made, logits) if logits is not None else None
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
    yield Candidate(logs.name, logs.why, edits, equal=True, compare=comparison)


def _picked_from(source: SourceFile, node: cst.BaseExpression) -> cst.Name | None:
    """The name of which it picks elements, or itself."""
    while not isinstance(node, cst.Name):
        inner = read(source, node)
        if isinstance(node, cst.Subscript):
            node = node.value
        elif inner is not None and inner.operands and inner.name in PICKING and not inner.in_place:
            node = inner.operands[0]
        else:
            return None
    return node
