"""An operation that half precision cannot hold: scaled before, or done in float32."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch.candidate import Candidate, Comparison
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.operation import (
    Operation,
    append,
    dotted,
    is_called,
    is_module,
    primary,
    read,
)
from nanscope.fix.patch.source_file import Edit, SourceFile, apply
from nanscope.fix.rewrites.scope import (
    indentation,
    nodes_in,
    scope_of,
    starts_line,
    statement_of,
)

# Autocast does these in the narrow type, whatever the type of their inputs.
RECAST = {
    "matmul", "mm", "bmm", "addmm", "baddbmm", "einsum", "linear", "conv1d", "conv2d", "conv3d",
    "scaled_dot_product_attention",
}  # fmt: skip
RECAST_OPS = {"mm", "addmm", "bmm", "baddbmm", "linear", "convolution", "matmul", "einsum"}
METHODS = RECAST | {
    "add", "cumsum", "div", "dot", "exp", "mean", "mul", "norm", "pow", "prod", "square", "std",
    "sub", "sum", "var",
}  # fmt: skip
ARITHMETIC = {"add", "div", "exp", "mul", "neg", "pow", "square", "sub"}
SHRINKING = ("rsqrt", "sqrt", "log", "log1p", "reciprocal")
PRODUCTS = ("matmul", "mm", "bmm")
CASTS = ("half", "to", "type", "bfloat16")


def tensors(operation: Operation) -> list[cst.BaseExpression]:
    """Operands that are no numbers; of a module of the user's, what it is called with."""
    numbers = cst.Integer | cst.Float | cst.UnaryOperation
    operands = operation.operands
    if operation.form == "method" and not is_of_torch(operation):
        operands = operands[1:]
    return [node for node in operands if not isinstance(node, numbers)]


def is_of_torch(operation: Operation) -> bool:
    """`x.sum()`, `torch.sum(x)`, `x + y`; not `self.net(x)`, as far as names tell."""
    if operation.form == "method":
        return operation.name in METHODS
    return operation.form != "function" or is_module(operation.source, operation.node.func)


def tempered(case: Case, operation: Operation) -> Iterator[Candidate]:
    """`q @ k / s`: the product overflows before it is scaled; `(q / s) @ k` does not."""
    source, node = case.source, operation.node
    scaled = source.parent(node)
    if operation.name not in PRODUCTS or len(operation.operands) != 2:
        return
    if not isinstance(scaled, cst.BinaryOperation) or scaled.left is not node:
        return
    if not isinstance(scaled.operator, cst.Divide | cst.Multiply) or not _is_scale(scaled.right):
        return
    sign = "/" if isinstance(scaled.operator, cst.Divide) else "*"
    first = operation.operands[0]
    scale = source.code(scaled.right)
    begin, end = source.span(node)
    text = f"({primary(source, first)} {sign} {scale})"
    a, b = source.whole_span(first)
    product = apply(source.text[begin:end], [Edit(source.path, a - begin, b - begin, text)])
    if source.parent(scaled) is not None and operation.form == "binary" and scaled.lpar:
        product = f"({product})"
    yield Candidate(
        "scale_before_product",
        "the product does not fit the type before it is scaled: one side is scaled first.",
        [source.edit(scaled, product)],
        compare=Comparison(source.path, *source.whole_span(scaled), source.code(scaled), product),
    )


def scaled(case: Case) -> Iterator[Candidate]:
    """In wider types the same: the scale goes in first."""
    if case.operation is not None:
        yield from tempered(case, case.operation)


def _is_scale(node: cst.BaseExpression) -> bool:
    """A number, a name, or math.sqrt of something: no tensor that would have to fit."""
    if isinstance(node, cst.Integer | cst.Float | cst.Name | cst.Attribute):
        return True
    return isinstance(node, cst.Call) and dotted(node.func) in ("math.sqrt", "sqrt", "np.sqrt")


def in_float32(case: Case, operation: Operation) -> Iterator[Candidate]:
    """The operands cast; where autocast would cast them back, without it."""
    if operation.name in CASTS or operation.form == "augmented":
        return
    source = case.source
    edits = [
        Edit(source.path, *source.whole_span(node), f"{primary(source, node)}.float()")
        for node in tensors(operation)
    ]
    is_recast = _is_recast(case, operation)
    if not edits or not (is_of_torch(operation) or is_recast):
        return
    if not is_recast:
        why = "the result does not fit the narrow type: it is computed, and kept, in float32."
        yield Candidate("upcast", why, edits, widens=True)
        leaves = [leaf for node in tensors(operation) for leaf in _leaves(source, node)]
        if leaves != tensors(operation):
            why = (
                "neither the result nor what goes into it fits the narrow type: both are computed, "
            )
            deep = [source.edit(leaf, f"{primary(source, leaf)}.float()") for leaf in leaves]
            yield Candidate("upcast", why + "and kept, in float32.", deep, widens=True)
        return
    statement = statement_of(source, operation.node)
    if statement is None or not starts_line(source, statement):
        return
    begin = source.span(statement)[0]
    indent = indentation(source, statement)
    step = "\t" if indent.startswith("\t") else "    "
    head = f'with torch.autocast("cpu", enabled=False):{source.newline}{indent}{step}'
    a, b = source.span(operation.node)
    inside = [Edit(e.path, e.begin - a, e.end - a, e.text) for e in edits]
    wide = apply(source.text[a:b], inside)
    patched = f"__nanscope__.without_autocast(lambda: {wide})"
    yield Candidate(
        "without_autocast",
        "the result does not fit the narrow type of autocast: this op is done in float32.",
        [Edit(source.path, begin, begin, head), *edits],
        widens=True,
        compare=Comparison(source.path, a, b, source.text[a:b], patched, alone=True),
    )


def there_and_back(case: Case, operation: Operation) -> Iterator[Candidate]:
    """`power = x.pow(2).mean(-1)`, `x * torch.rsqrt(power)`: squares in float32, and what is made
    of them in the type of x again.
    """
    source = case.source
    if operation.in_place or not is_of_torch(operation) or _is_recast(case, operation):
        return
    operands = tensors(operation)
    back = (
        _narrowed(source, operation.node) if len({source.code(o) for o in operands}) == 1 else None
    )
    if back is None or not isinstance(operands[0], cst.Name):
        return
    inner = operands[0].value
    begin, end = source.span(operation.node)
    wide = [source.edit(node, f"{inner}.float()") for node in operands]
    moved = [Edit(e.path, e.begin - begin, e.end - begin, e.text) for e in wide]
    text = source.text[begin:end]
    yield Candidate(
        "float32_and_back",
        f"the result does not fit the narrow type, and {source.shown(back)} does: up to there it "
        "is computed in float32.",
        [*wide, *append(source, back, f".to({inner}.dtype)")],
        widens=True,
        compare=Comparison(source.path, begin, end, text, apply(text, moved)),
    )


def _narrowed(source: SourceFile, node: cst.CSTNode) -> cst.Call | None:
    """The call around it that brings what is large back to an ordinary size."""
    for parent in source.parents(node):
        if isinstance(parent, cst.Call) and is_called(source, parent, *SHRINKING):
            return parent
        if isinstance(parent, cst.Assign):
            target = parent.targets[0].target
            name = target.value if isinstance(target, cst.Name) else ""
            end = source.span(parent)[1]
            uses = [
                other
                for other in nodes_in(source, scope_of(source, node))
                if isinstance(other, cst.Name) and other.value == name
                and source.span(other)[0] > end
            ]  # fmt: skip
            return _narrowed(source, uses[0]) if len(uses) == 1 else None
        if isinstance(parent, cst.BaseSmallStatement):
            return None
    return None


def _leaves(source: SourceFile, node: cst.BaseExpression) -> list[cst.BaseExpression]:
    """What the arithmetic of an expression begins with."""
    inner = read(source, node)
    if inner is None or inner.name not in ARITHMETIC or inner.in_place or not inner.operands:
        return [node]
    return [leaf for operand in tensors(inner) for leaf in _leaves(source, operand)]


def _is_recast(case: Case, operation: Operation) -> bool:
    is_used = any("autocast" in source.text for source in case.sources)
    op = case.origin.op.rpartition("::")[2]
    return is_used and (operation.name in RECAST or op in RECAST_OPS)
