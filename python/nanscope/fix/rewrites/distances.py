"""`|a|^2 + |b|^2 - 2ab` under a root is rounding where points meet; torch's own cdist is not."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch.candidate import Candidate, Comparison
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.operation import argument, pure, read
from nanscope.fix.patch.source_file import SourceFile
from nanscope.fix.rewrites.scope import inlined, made_unused, value_of

TRANSPOSED = ("T", "mT")


def propose(case: Case) -> Iterator[Candidate]:
    source, root = case.source, case.operation
    if root is None or root.name != "sqrt" or root.in_place or not root.operands:
        return
    points = _points(source, value_of(source, root.operands[0]))
    if points is None:
        return
    code = f"torch.cdist({argument(source, points[0])}, {argument(source, points[1])})"
    yield Candidate(
        "cdist",
        "the squared distance of points that are the same is rounding, 0 or less, where the root "
        "has no value or no slope; torch.cdist has both.",
        [source.edit(root.node, code), *made_unused(source, root.node, code)],
        compare=Comparison(
            source.path, *source.whole_span(root.node), inlined(source, root.node, code), code
        ),
    )


def _points(source: SourceFile, node: cst.BaseExpression):
    """a and b of `... + ... - 2 * a @ b.T`; that the squares are theirs is measured."""
    difference = read(source, node)
    if difference is None or difference.name != "sub" or len(difference.operands) != 2:
        return None
    squares, product = (read(source, operand) for operand in difference.operands)
    if squares is None or squares.name != "add" or product is None:
        return None
    if product.name == "mul" and _is_two(product.operands[0]):  # 2 * (a @ b.T)
        matrix = pure(source, product.operands[1], "matmul", "mm", "bmm")
        left = matrix.operands[0] if matrix is not None else None
    elif product.name in ("matmul", "mm", "bmm"):  # 2 * a @ b.T
        matrix, scaled = product, pure(source, product.operands[0], "mul")
        left = scaled.operands[1] if scaled is not None and _is_two(scaled.operands[0]) else None
    else:
        return None
    right = _untransposed(source, matrix.operands[1]) if left is not None else None
    return (left, right) if right is not None else None


def _is_two(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Integer | cst.Float) and node.evaluated_value == 2


def _untransposed(source: SourceFile, node: cst.BaseExpression) -> cst.BaseExpression | None:
    if isinstance(node, cst.Attribute) and node.attr.value in TRANSPOSED:
        return node.value
    turned = pure(source, node, "t", "transpose")
    return turned.operands[0] if turned is not None else None
