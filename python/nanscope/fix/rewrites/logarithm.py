"""The logarithm of zero or less."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.candidate import Candidate, Comparison
from nanscope.fix.case import Case, written
from nanscope.fix.imports import functional
from nanscope.fix.operation import Operation, argument, is_one, primary, read
from nanscope.fix.rewrites import binary, precise
from nanscope.fix.rewrites.scope import inlined, made_unused, value_of
from nanscope.fix.source_file import Edit

LOGARITHMS = {"log", "log2", "log10", "log1p", "xlogy"}


def propose(case: Case) -> Iterator[Candidate]:
    operation = case.operation
    if operation is None or operation.name not in LOGARITHMS or not operation.operands:
        return
    operand = operation.operands[-1] if operation.name == "xlogy" else operation.operands[0]
    if operation.name == "log":
        yield from binary.propose(case)
        yield from _fused(case, operation, operand)
        yield from precise.propose(case)
    facts = case.input("self", "saved self")
    least = written(case.small(facts))
    shown = f"`{' '.join(case.source.bare(operand).split())}`"
    if operation.name == "log1p":
        least = f"-1.0 + {least}"
    yield Candidate(
        "clamp_before_log",
        f"{shown} can be 0 or less; it is kept at {least} or more before the logarithm.",
        operation.wrap(operand, f"clamp(min={least})"),
    )


def _fused(case: Case, operation: Operation, operand: cst.BaseExpression) -> Iterator[Candidate]:
    """A function that computes the logarithm and what is inside it in one, without the zero."""
    source = case.source
    inner = read(source, value_of(source, operand))
    if inner is None or operation.in_place or not inner.operands:
        return
    what = inner.operands[0]
    if inner.name == "softmax":
        dim = inner.argument(1, "dim")
        if dim is None:
            return
        code = f"torch.log_softmax({argument(source, what)}, dim={source.code(dim)})"
        why = "log(softmax) underflows; log_softmax computes both in one."
        yield _in_one(case, "log_softmax", why, code)
    elif inner.name == "sigmoid":
        prefix, more = functional(source)
        code = f"{prefix}.logsigmoid({argument(source, what)})"
        why = "log(sigmoid) underflows; logsigmoid computes both in one."
        yield _in_one(case, "logsigmoid", why, code, more)
    elif inner.name == "sub" and is_one(inner.operands[0]):
        sigmoid = read(source, value_of(source, inner.operands[1]))
        if sigmoid is not None and sigmoid.name == "sigmoid" and sigmoid.operands:
            prefix, more = functional(source)
            code = f"{prefix}.logsigmoid(-{primary(source, sigmoid.operands[0])})"
            why = "log(1 - sigmoid(x)) is logsigmoid(-x), which does not underflow."
            yield _in_one(case, "logsigmoid", why, code, more)
    elif inner.name == "sum":
        exponential = read(source, value_of(source, what))
        if exponential is None or exponential.name != "exp" or not exponential.operands:
            return
        dim = inner.argument(1, "dim")
        keep = inner.argument(2, "keepdim")
        code = f"torch.logsumexp({argument(source, exponential.operands[0])}, "
        if dim is None:
            return
        code += f"dim={source.code(dim)}"
        code += f", keepdim={source.code(keep)})" if keep is not None else ")"
        why = "log(sum(exp)) under- and overflows; logsumexp computes it in one."
        yield _in_one(case, "logsumexp", why, code)


def _in_one(
    case: Case, name: str, why: str, code: str, more: list[Edit] | None = None
) -> Candidate:
    """Compared as functions of what goes into both, also where a name stands between."""
    source, node = case.source, case.node
    comparison = Comparison(source.path, *source.span(node), inlined(source, node), code)
    edits = [*(more or []), *made_unused(source, node), source.edit(node, code)]
    return Candidate(name, why, edits, compare=comparison)
