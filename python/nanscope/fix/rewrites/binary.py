"""Binary cross entropy of a sigmoid, written by hand or given probabilities: from the logits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from nanscope.fix.patch.candidate import Candidate, Comparison
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.imports import functional
from nanscope.fix.patch.operation import Operation, argument, is_one, pure, read
from nanscope.fix.patch.source_file import SourceFile
from nanscope.fix.rewrites import layers
from nanscope.fix.rewrites.scope import inlined, made_unused, value_of

WHY = (
    "the cross entropy of a sigmoid loses all digits where it saturates; "
    "binary_cross_entropy_with_logits computes both in one."
)


def propose(case: Case) -> Iterator[Candidate]:
    operation = case.operation
    if operation is None or not operation.operands:
        return
    if operation.name == "binary_cross_entropy":
        yield from _of_probabilities(case, operation)
    elif operation.name == "log":
        yield from _by_hand(case)


def _of_probabilities(case: Case, operation: Operation) -> Iterator[Candidate]:
    """`F.binary_cross_entropy(torch.sigmoid(z), y)`"""
    source = case.source
    logits = _of_sigmoid(source, operation.operands[0])
    target = operation.argument(1, "target")
    if logits is None or target is None or len(operation.operands) > 2:
        return
    if set(operation.keywords) - {"input", "target", "reduction"}:
        return
    reduction = operation.keywords.get("reduction")
    how = f", reduction={source.code(reduction)}" if reduction is not None else ""
    yield _candidate(case, operation.node, logits, target, how)


def _by_hand(case: Case) -> Iterator[Candidate]:
    """`-(y * log(p) + (1 - y) * log(1 - p))`, around the logarithm that failed."""
    source = case.source
    for parent in source.parents(case.node):
        if isinstance(parent, cst.BaseSmallStatement):
            return
        found = _entropy(source, parent)
        if found is None:
            continue
        whole, how, sign = _surroundings(source, parent)
        yield _candidate(case, whole, found.logits, found.target, how, sign)
        return


@dataclass
class _Entropy:
    logits: cst.BaseExpression
    target: cst.BaseExpression


def _entropy(source: SourceFile, node: cst.CSTNode) -> _Entropy | None:
    total = read(source, node)
    if total is None or total.name != "add" or total.form != "binary":
        return None
    terms = [_term(source, operand) for operand in total.operands]
    if None in terms:
        return None
    for (weight, p, negated), (other, q, opposite) in (terms, terms[::-1]):
        if negated or not opposite or source.bare(p) != source.bare(q):
            continue
        rest = read(source, other)
        if rest is None or rest.name != "sub" or not is_one(rest.operands[0]):
            continue
        if source.bare(rest.operands[1]) == source.bare(weight):
            return _Entropy(p, weight)
    return None


def _term(source: SourceFile, node: cst.BaseExpression):
    """`w * log(sigmoid(z))` or `w * log(1 - sigmoid(z))`: w, z, and whether it is the second."""
    product = read(source, node)
    if product is None or product.name != "mul" or len(product.operands) != 2:
        return None
    for weight, factor in (product.operands, product.operands[::-1]):
        log = pure(source, factor, "log")
        if log is None:
            continue
        inner = log.operands[0]
        logits = _of_sigmoid(source, inner)
        if logits is not None:
            return weight, logits, False
        rest = pure(source, value_of(source, inner), "sub")
        if rest is not None and is_one(rest.operands[0]):
            logits = _of_sigmoid(source, rest.operands[1])
            if logits is not None:
                return weight, logits, True
    return None


def _of_sigmoid(source: SourceFile, node: cst.BaseExpression) -> cst.BaseExpression | None:
    sigmoid = pure(source, value_of(source, node), "sigmoid", "expit")
    is_it = sigmoid is not None and layers.is_torchs(sigmoid, "Sigmoid")
    return sigmoid.operands[0] if is_it else None


def _surroundings(source: SourceFile, node: cst.CSTNode) -> tuple[cst.CSTNode, str, str]:
    """How far the loss reaches: over its mean or sum, and over the minus; that, how, the sign."""
    whole, how, sign = node, ', reduction="none"', "-"
    for _ in range(4):
        outer = source.parent(whole)
        outer = source.parent(outer) if isinstance(outer, cst.Attribute | cst.Arg) else outer
        around = read(source, outer) if isinstance(outer, cst.BaseExpression) else None
        if around is None or around.operands[:1] != [whole]:
            break
        if around.name == "neg" and sign == "-":
            whole, sign = outer, ""
        elif around.name in ("mean", "sum") and len(outer.args) == (around.form == "function"):
            if how != ', reduction="none"':
                break
            whole = outer
            how = "" if around.name == "mean" else ', reduction="sum"'
        else:
            break
    return whole, how, sign


def _candidate(case: Case, whole, logits, target, how: str, sign: str = "") -> Candidate:
    source = case.source
    prefix, more = functional(source)
    given = f"{argument(source, logits)}, {argument(source, target)}{how}"
    code = f"{sign}{prefix}.binary_cross_entropy_with_logits({given})"
    comparison = Comparison(
        source.path, *source.whole_span(whole), inlined(source, whole, code), code
    )
    return Candidate(
        "binary_cross_entropy_with_logits",
        WHY,
        [*more, *made_unused(source, whole, code), source.edit(whole, code)],
        equal=True,
        compare=comparison,
    )
