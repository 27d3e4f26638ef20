"""Functions that torch has, written by hand with an exponential that overflows on the way."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch.candidate import Candidate, Comparison
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.imports import functional
from nanscope.fix.patch.operation import argument, is_one, primary, pure, read
from nanscope.fix.patch.source_file import SourceFile
from nanscope.fix.rewrites.scope import (
    inlined,
    made_unused,
    may_run_twice,
    nodes_in,
    scope_of,
    value_of,
    words,
)

NAMES = ("difference", "residual", "given")


def sigmoid(case: Case) -> Iterator[Candidate]:
    """`a / (1 + exp(-x))`, `exp(x) / (1 + exp(x))`"""
    if pure(case.source, case.node, "exp") is None:
        return
    source = case.source
    for node in nodes_in(source, scope_of(source, case.node)):
        code = _as_sigmoid(case, node)
        if code is not None:
            why = "a sigmoid by hand overflows on the way; torch's does not."
            yield _instead(source, node, "sigmoid", why, code)


def _as_sigmoid(case: Case, node: cst.CSTNode) -> str | None:
    source, quotient = case.source, pure(case.source, node, "div", "reciprocal")
    if quotient is None or quotient.form == "augmented" or quotient.keywords:
        return None
    if len(quotient.operands) != (2 if quotient.name == "div" else 1):
        return None
    total = pure(source, value_of(source, quotient.operands[-1]), "add")
    if total is None or len(total.operands) != 2 or total.keywords:
        return None
    others = [o for o in total.operands if not is_one(o)]
    below = pure(source, value_of(source, others[0], node), "exp") if len(others) == 1 else None
    if below is None:
        return None
    exponent = below.operands[0]
    above = quotient.operands[0] if quotient.name == "div" else None
    same = pure(source, value_of(source, above, node), "exp") if above is not None else None
    if same is not None and source.bare(same.operands[0]) == source.bare(exponent):
        fits = case.node in (same.node, below.node) and may_run_twice(source, exponent)
        return f"torch.sigmoid({argument(source, exponent)})" if fits else None
    if below.node is not case.node:
        return None
    negated = read(source, exponent)
    if negated is not None and negated.name == "neg":
        code = f"torch.sigmoid({argument(source, negated.operands[0])})"
    else:
        code = f"torch.sigmoid(-{primary(source, exponent)})"
    return code if above is None or is_one(above) else f"{primary(source, above)} * {code}"


def tangent(case: Case) -> Iterator[Candidate]:
    """`sinh(x) / cosh(x)`"""
    source = case.source
    if pure(source, case.node, "sinh", "cosh") is None:
        return
    for node in nodes_in(source, scope_of(source, case.node)):
        quotient = pure(source, node, "div")
        if quotient is None or len(quotient.operands) != 2 or quotient.keywords:
            continue
        above, below = (
            pure(source, value_of(source, operand, node), name)
            for operand, name in zip(quotient.operands, ("sinh", "cosh"), strict=True)
        )
        if above is None or below is None or case.node not in (above.node, below.node):
            continue
        x = above.operands[0]
        if source.bare(x) == source.bare(below.operands[0]) and may_run_twice(source, x):
            code = f"torch.tanh({argument(source, x)})"
            why = "sinh and cosh overflow; their quotient is tanh, which does not."
            yield _instead(source, node, "tanh", why, code)


def log_cosh(case: Case) -> Iterator[Candidate]:
    """`log(cosh(x))` is |x| + softplus(-2 |x|) - log(2)."""
    source = case.source
    if pure(source, case.node, "cosh") is None:
        return
    for node in nodes_in(source, scope_of(source, case.node)):
        log = pure(source, node, "log")
        if log is None or len(log.operands) != 1 or log.keywords:
            continue
        if value_of(source, log.operands[0]) is not case.node:
            continue
        x = pure(source, case.node, "cosh").operands[0]
        first = again = primary(source, x)
        if not may_run_twice(source, x):
            known = words(source.text)
            again = next((n for n in NAMES if n not in known), f"{NAMES[-1]}_")
            first = f"({again} := {source.bare(x)})"
        prefix, imports = functional(source)
        code = f"{first}.abs() + {prefix}.softplus(-2 * {again}.abs()) - 0.6931471805599453"
        why = "cosh overflows before its logarithm is taken, which is |x| + softplus(-2 |x|) - "
        why += "log(2)."
        if not _stands_loose(source, node):
            code = f"({code})"
        candidate = _instead(source, node, "log_cosh", why, code)
        candidate.edits = [*imports, *candidate.edits]
        yield candidate


def _stands_loose(source: SourceFile, node: cst.CSTNode) -> bool:
    return isinstance(source.parent(node), cst.Arg | cst.Assign | cst.Return | cst.Expr)


def _instead(source: SourceFile, node: cst.CSTNode, name: str, why: str, code: str) -> Candidate:
    """Compared as functions of what goes into both, also where a name stands between."""
    before = inlined(source, node, code)
    comparison = Comparison(source.path, *source.whole_span(node), before, code)
    edits = [*made_unused(source, node, code), source.edit(node, code)]
    return Candidate(name, why, edits, equal=True, compare=comparison)
