"""`E[x^2] - E[x]^2` is rounding where the mean is large; torch's own variance is not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from nanscope.fix.patch.candidate import Candidate, Comparison
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.operation import Operation, argument, primary, pure, read
from nanscope.fix.patch.source_file import SourceFile
from nanscope.fix.rewrites.scope import (
    inlined,
    is_repeatable,
    made_unused,
    nodes_in,
    scope_of,
    value_of,
)

WHY = (
    "the mean of the squares less the square of the mean is a difference of two large numbers, of "
    "which rounding is left; torch subtracts the mean first."
)
KEYS = {"input", "dim", "axis", "keepdim"}


@dataclass
class _Variance:
    values: cst.BaseExpression
    dim: str
    keepdim: str

    def options(self) -> str:
        parts = [f"dim={self.dim}"] if self.dim else []
        parts += ["correction=0"]
        parts += [f"keepdim={self.keepdim}"] if self.keepdim else []
        return ", ".join(parts)


def propose(case: Case) -> Iterator[Candidate]:
    """Rewrites the root that failed, what it is the root of, or where that was given its name."""
    source, operation = case.source, case.operation
    if operation is None or not operation.operands or operation.in_place:
        return
    if operation.name == "sqrt" or _is_half_power(source, operation):
        operand = operation.operands[0]
        found = _variance(source, value_of(source, operand))
        if found is not None:
            yield _as(case, case.node, found, "std")
    for node in _differences(case):
        found = _variance(source, node)
        if found is not None:
            yield _as(case, node, found, "var")


def _is_half_power(source: SourceFile, operation: Operation) -> bool:
    exponent = operation.argument(1, "exponent")
    return operation.name == "pow" and exponent is not None and source.code(exponent) == "0.5"


def _differences(case: Case) -> Iterator[cst.BaseExpression]:
    """In the failing expression, and behind the names in it."""
    source, todo, seen = case.source, [case.node], 0
    while todo and seen < 64:
        node, seen = todo.pop(), seen + 1
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Subtract):
            yield node
        if isinstance(node, cst.Name):
            for other in nodes_in(source, scope_of(source, case.node)):
                if isinstance(other, cst.Assign) and _is_target(other, node.value):
                    if source.span(other)[1] <= source.span(case.node)[0]:
                        todo.append(other.value)
        else:
            todo += [child for child in node.children if isinstance(child, cst.CSTNode)]


def _is_target(given: cst.Assign, name: str) -> bool:
    target = given.targets[0].target
    return len(given.targets) == 1 and isinstance(target, cst.Name) and target.value == name


def _variance(source: SourceFile, node: cst.BaseExpression) -> _Variance | None:
    difference = read(source, node)
    if difference is None or difference.name != "sub" or difference.form != "binary":
        return None
    of_squares = _mean(source, difference.operands[0])
    squared = base_of_square(source, difference.operands[1])
    of_values = _mean(source, squared) if squared is not None else None
    if of_squares is None or of_values is None:
        return None
    values = base_of_square(source, of_squares.values)
    same = values is not None and source.bare(values) == source.bare(of_values.values)
    if not same or of_squares.dim != of_values.dim or of_squares.keepdim != of_values.keepdim:
        return None
    return _Variance(values, of_values.dim, of_values.keepdim)


def _mean(source: SourceFile, node: cst.BaseExpression) -> _Variance | None:
    mean = pure(source, value_of(source, node), "mean", "div")
    if mean is not None and mean.name == "div" and len(mean.operands) == 2:  # a sum over n
        total = pure(source, value_of(source, mean.operands[0]), "sum")
        return _mean_of(source, total) if total is not None else None
    return _mean_of(source, mean) if mean is not None and mean.name == "mean" else None


def _mean_of(source: SourceFile, mean: Operation) -> _Variance | None:
    if not mean.operands or set(mean.keywords) - KEYS or len(mean.operands) > 3:
        return None
    dim, keep = mean.argument(1, "dim", "axis"), mean.argument(2, "keepdim")
    parts = [source.code(part) if part is not None else "" for part in (dim, keep)]
    return _Variance(mean.operands[0], *parts)


def base_of_square(source: SourceFile, node: cst.BaseExpression) -> cst.BaseExpression | None:
    square = read(source, value_of(source, node))
    if square is None or square.in_place or not square.operands:
        return None
    if square.name == "square":
        return square.operands[0]
    if square.name == "pow":
        exponent = square.argument(1, "exponent")
        two = isinstance(exponent, cst.Integer | cst.Float) and exponent.evaluated_value == 2
        return square.operands[0] if two else None
    if square.name == "mul" and len(square.operands) == 2:
        a, b = square.operands
        return a if source.bare(a) == source.bare(b) else None
    return None


def _as(case: Case, node: cst.BaseExpression, found: _Variance, name: str) -> Candidate:
    source = case.source
    code = f"{primary(source, found.values)}.{name}({found.options()})"
    if not is_repeatable(source, found.values):
        code = f"torch.{name}({argument(source, found.values)}, {found.options()})"
    edits = [*made_unused(source, node, code), source.edit(node, code)]
    # Compared where it failed, as a function of what both are made of.
    before, difference = inlined(source, case.node, ""), inlined(source, node, "")
    comparison = None
    if difference in before:
        after = before.replace(difference, code, 1)
        comparison = Comparison(source.path, *source.span(case.node), before, after)
    return Candidate(f"{name}_without_cancellation", WHY, edits, compare=comparison)
