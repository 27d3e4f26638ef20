"""Reductions over nothing: a mean of no elements, a loss whose targets are all ignored."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.operation import LOOSE, Operation, alone, argument, primary
from nanscope.fix.patch.source_file import Edit, SourceFile
from nanscope.fix.rewrites.scope import may_run_twice

ELEMENTWISE = {
    "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "kl_div",
}  # fmt: skip


def propose(case: Case) -> Iterator[Candidate]:
    operation = case.operation
    if operation is None or not operation.operands:
        return
    if operation.name in ("var", "std", "var_mean", "std_mean"):
        yield from _unbiased(case, operation)
    elif operation.name in ("cross_entropy", "nll_loss"):
        yield from _ignored(case, operation)
    elif operation.name in ELEMENTWISE and "reduction" not in operation.keywords:
        yield from _elementwise(case, operation)
    elif operation.name == "mean":
        yield from _mean(case, operation)


def _elementwise(case: Case, operation: Operation) -> Iterator[Candidate]:
    counted = counted_of(case.source, operation.operands[0], operation.argument(1, "target"))
    if counted is not None:
        edits = operation.add_argument('reduction="sum"')
        yield _sum_over_count([*edits, *divided(operation, f"max({counted}.numel(), 1)")])


def counted_of(source: SourceFile, *nodes: cst.BaseExpression | None) -> str | None:
    """The first of tensors of one shape that may be written down a second time."""
    found = (primary(source, n) for n in nodes if n is not None and may_run_twice(source, n))
    return next(found, None)


def _unbiased(case: Case, operation: Operation) -> Iterator[Candidate]:
    if {"unbiased", "correction"} & set(operation.keywords):
        return
    count = _count(case, operation)
    if count is not None:
        yield Candidate(
            "correction_by_count",
            "one element has no unbiased variance (it divides by n - 1 = 0): there, and only "
            "there, the biased one is taken.",
            operation.add_argument(f"correction=min(1, {count} - 1)"),
        )
    yield Candidate(
        "biased_variance",
        "one element has no unbiased variance (it divides by n - 1 = 0): the biased one is 0.",
        operation.add_argument("unbiased=False"),
        alters="n is divided by, not n - 1",
    )


def _count(case: Case, operation: Operation) -> str | None:
    """How many elements go into one result, as one would write it."""
    if not may_run_twice(case.source, operation.operands[0]):
        return None
    inner = primary(case.source, operation.operands[0])
    dim = operation.argument(1, "dim")
    if dim is None:
        return f"{inner}.numel()"
    if isinstance(dim, cst.Integer | cst.UnaryOperation):
        return f"{inner}.shape[{case.source.code(dim)}]"
    return None


def _ignored(case: Case, operation: Operation) -> Iterator[Candidate]:
    if {"reduction", "weight", "label_smoothing"} & set(operation.keywords):
        return
    target = operation.argument(1, "target")
    if target is None or len(operation.operands) > 2 or not may_run_twice(case.source, target):
        return
    ignored = operation.keywords.get("ignore_index")
    index = case.source.code(ignored) if ignored is not None else "-100"
    count = f"({argument(case.source, target)} != {index}).sum().clamp(min=1)"
    edits = operation.add_argument('reduction="sum"')
    yield _sum_over_count([*edits, *divided(operation, count)])


def divided(operation: Operation, count: str) -> list[Edit]:
    """The expression over a count, in brackets where it needs them."""
    source, node = operation.source, operation.node
    begin, end = source.whole_span(node)
    if isinstance(source.parent(node), LOOSE):
        return [Edit(source.path, end, end, f" / {count}")]
    return [Edit(source.path, begin, begin, "("), Edit(source.path, end, end, f" / {count})")]


def _mean(case: Case, operation: Operation) -> Iterator[Candidate]:
    source = case.source
    inner = primary(source, operation.operands[0])
    rest = [a for a in operation.node.args]
    if operation.form == "function":
        rest = rest[1:]
    if operation.in_place or not may_run_twice(source, operation.operands[0]):
        return
    count = f"{inner}.numel()"
    if rest:
        count = _count(case, operation)
        if count is None or set(operation.keywords) - {"input", "dim", "keepdim"}:
            return
    given = ", ".join(source.code(a) for a in rest)
    code = alone(source, operation.node, f"{inner}.sum({given}) / max({count}, 1)")
    yield _sum_over_count([source.edit(operation.node, code)])


def _sum_over_count(edits) -> Candidate:
    return Candidate(
        "sum_over_count",
        "the mean of nothing is 0 / 0: the sum is divided by the count, or by 1.",
        edits,
    )
