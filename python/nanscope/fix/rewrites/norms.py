"""Norms of zero vectors: torch's own norm has a slope there (0), one written by hand has none."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch.candidate import Candidate, Comparison
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.imports import functional
from nanscope.fix.patch.operation import Operation, argument, pure
from nanscope.fix.rewrites.scope import inlined, made_unused, value_of


def propose(case: Case) -> Iterator[Candidate]:
    operation = case.operation
    if operation is None:
        return
    yield from as_vector_norm(case, operation)
    if operation.name == "hypot" and len(operation.operands) == 2:
        a, b = (argument(case.source, node) for node in operation.operands)
        code = f"torch.linalg.vector_norm(torch.stack([{a}, {b}]), dim=0)"
        why = "hypot has no slope at the origin; the norm of the pair has one, 0."
        yield Candidate("vector_norm", why, [case.source.edit(operation.node, code)])
        code = f"torch.sqrt(({a}) ** 2 + ({b}) ** 2 + 1e-12)"
        why = "hypot has no slope at the origin: a small number is added under the root."
        yield Candidate("eps_inside_sqrt", why, [case.source.edit(operation.node, code)])
    if operation.name in ("norm", "vector_norm") and operation.operands:
        vector = operation.operands[0]
        dim = operation.argument(2, "dim") or operation.keywords.get("axis")
        keep = operation.argument(3, "keepdim")
        code = argument(case.source, vector)
        options = [f"dim={case.source.code(dim)}"] if dim is not None else []
        options += [f"keepdim={case.source.code(keep)}"] if keep is not None else []
        order = operation.argument(1, "p", "ord")
        if order is None or case.source.code(order) in ("2", "2.0"):
            text = f"(({code}).pow(2).sum({', '.join(options)}) + 1e-12).sqrt()"
            why = "the norm of a zero vector has no second slope: a small number is added inside."
            yield Candidate("eps_inside_norm", why, [case.source.edit(operation.node, text)])


def as_normalize(case: Case) -> Iterator[Candidate]:
    """`x / x.norm(dim=d, keepdim=True)` as `F.normalize(x, dim=d)`."""
    source, quotient = case.source, case.operation
    if quotient is None or quotient.name != "div" or quotient.form == "augmented":
        return
    if quotient.in_place or len(quotient.operands) != 2 or quotient.keywords:
        return
    vector, divisor = quotient.operands
    dim = _dim_of_length(case, value_of(source, divisor), source.bare(vector))
    if dim is None:
        return
    prefix, imports = functional(source)
    code = f"{prefix}.normalize({argument(source, vector)}, dim={dim})"
    node = quotient.node
    original = inlined(source, node, code)
    yield Candidate(
        "normalize",
        f"{source.shown(vector)} can have length 0, and no direction then: F.normalize makes it 0.",
        [*imports, source.edit(node, code), *made_unused(source, node, code)],
        compare=Comparison(source.path, *source.whole_span(node), original, code),
    )


def _dim_of_length(case: Case, node: cst.BaseExpression, vector: str) -> str | None:
    """The dimension along which `node` is the length of the vector, kept as one of size 1."""
    source = case.source
    norm = pure(source, node, "norm", "vector_norm")
    root = pure(source, node, "sqrt", "pow")
    if norm is not None:
        order = norm.argument(1, "p", "ord")
        is_two = order is None or _is_number(case, order, 2)
        of, dim, keep = norm.operands[0], norm.argument(2, "dim"), norm.argument(3, "keepdim")
    elif root is not None and _is_root(case, root):
        total = pure(source, root.operands[0], "sum")
        of = (
            _squared(case, pure(source, total.operands[0], "square", "pow", "mul"))
            if total
            else None
        )
        dim = total.argument(1, "dim", "axis") if total else None
        keep, is_two = (total.argument(2, "keepdim") if total else None), of is not None
    else:
        return None
    kept = keep is not None and source.code(keep) == "True"
    if not is_two or not kept or dim is None or source.bare(of) != vector:
        return None
    is_one_dim = isinstance(dim, cst.Integer | cst.UnaryOperation)
    return source.code(dim) if is_one_dim else None


def as_vector_norm(case: Case, operation: Operation) -> Iterator[Candidate]:
    """`x.pow(2).sum(d).sqrt()`, in all its spellings, as `torch.linalg.vector_norm(x, dim=d)`."""
    source = case.source
    if operation.in_place or not _is_root(case, operation):
        return
    total = pure(source, operation.operands[0], "sum")
    if total is None or "dtype" in total.keywords:
        return
    squares = pure(source, total.operands[0], "square", "pow", "mul")
    vector = _squared(case, squares)
    if vector is None:
        return
    options = ""
    dim = total.argument(1, "dim", "axis")
    keep = total.argument(2, "keepdim")
    if dim is not None:
        options += f", dim={source.code(dim)}"
    if keep is not None:
        options += f", keepdim={source.code(keep)}"
    code = f"torch.linalg.vector_norm({argument(source, vector)}{options})"
    why = "the root of a sum of squares has no slope at 0; torch's own norm has one, 0."
    yield Candidate("vector_norm", why, [source.edit(operation.node, code)])


def _is_root(case: Case, operation: Operation) -> bool:
    if operation.name == "sqrt":
        return bool(operation.operands)
    return operation.name == "pow" and _is_number(case, operation.argument(1, "exponent"), 0.5)


def _squared(case: Case, operation: Operation | None) -> cst.BaseExpression | None:
    if operation is None:
        return None
    if operation.name == "square":
        return operation.operands[0]
    if operation.name == "pow" and _is_number(case, operation.argument(1, "exponent"), 2):
        return operation.operands[0]
    if operation.name == "mul" and len(operation.operands) == 2:
        a, b = operation.operands
        if case.source.bare(a) == case.source.bare(b):
            return a
    return None


def _is_number(case: Case, node: cst.BaseExpression | None, value: float) -> bool:
    if node is None:
        return False
    try:
        return eval(case.source.bare(node), {"__builtins__": {}}) == value
    except Exception:
        return False
