"""What names stand for, and where statements are, around the failing expression."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.case import Case
from nanscope.fix.operation import Operation, read
from nanscope.fix.source_file import Edit, SourceFile, apply

SCOPES = (cst.FunctionDef, cst.Lambda, cst.ClassDef, cst.Module)
REPEATABLE = {
    "abs", "clamp", "detach", "div", "exp", "expm1", "flatten", "float", "log", "log1p", "mean",
    "mul", "neg", "permute", "pow", "relu", "reshape", "sigmoid", "softmax", "sqrt", "square",
    "squeeze", "sub", "sum", "t", "tanh", "transpose", "unsqueeze", "view",
}  # fmt: skip
OPTIMIZERS = {
    "SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adamax", "NAdam", "RAdam", "Adadelta", "ASGD",
    "Rprop", "LBFGS", "SparseAdam",
}  # fmt: skip


def scope_of(source: SourceFile, node: cst.CSTNode) -> cst.CSTNode:
    return next((p for p in source.parents(node) if isinstance(p, SCOPES)), source.module)


def statement_of(source: SourceFile, node: cst.CSTNode) -> cst.SimpleStatementLine | None:
    if isinstance(node, cst.SimpleStatementLine):
        return node
    lines = (p for p in source.parents(node) if isinstance(p, cst.SimpleStatementLine))
    return next(lines, None)


def nodes_in(source: SourceFile, scope: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Of one scope, in the order of the text; not of the scopes inside it."""
    todo = list(reversed(scope.children))
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, SCOPES):
            todo += reversed(node.children)


def assigned(source: SourceFile, name: str, near: cst.CSTNode) -> cst.BaseExpression | None:
    """What a name was given in this scope before `near`, if that is one plain assignment."""
    place = source.span(near)[0]
    found = []
    for node in nodes_in(source, scope_of(source, near)):
        if isinstance(node, cst.Assign) and len(node.targets) == 1:
            target = node.targets[0].target
            if isinstance(target, cst.Name) and target.value == name:
                found.append(node.value)
        elif isinstance(node, cst.AugAssign) and isinstance(node.target, cst.Name):
            if node.target.value == name:
                return None
    before = [value for value in found if source.span(value)[1] <= place]
    return before[0] if len(found) == 1 and before else None


def value_of(source: SourceFile, node: cst.BaseExpression) -> cst.BaseExpression:
    """The expression behind a name, where that is plain and may be computed again; else itself."""
    if isinstance(node, cst.Name):
        value = assigned(source, node.value, node)
        return value if value is not None and is_repeatable(source, value) else node
    return node


def is_repeatable(source: SourceFile, node: cst.CSTNode) -> bool:
    """All that it calls are operations that cost little and leave nothing behind: no module."""
    todo = [node]
    while todo:
        one = todo.pop()
        called = read(source, one) if isinstance(one, cst.Call) else None
        if isinstance(one, cst.Call) and (called is None or called.name not in REPEATABLE):
            return False
        todo += one.children
    return True


def inlined(source: SourceFile, node: cst.BaseExpression) -> str:
    """Its text, with what its plain names were given in their places."""
    begin, end = source.span(node)
    edits = []
    for inner in source.nodes():
        if not isinstance(inner, cst.Name) or not _is_operand(source, inner):
            continue
        a, b = source.span(inner)
        value = value_of(source, inner) if begin <= a and b <= end else inner
        if value is not inner:
            edits.append(Edit(source.path, a - begin, b - begin, f"({source.bare(value)})"))
    return apply(source.text[begin:end], edits)


def made_unused(source: SourceFile, node: cst.BaseExpression) -> list[Edit]:
    """Without `node`: the lines of its function that gave a value to a name for it alone."""
    scope = scope_of(source, node)
    if not isinstance(scope, cst.FunctionDef):
        return []  # others may import the name
    (begin, end), (first, last) = source.span(node), source.span(scope)
    edits = []
    for name in sorted(names_in(node)):
        value = assigned(source, name, node)
        line = statement_of(source, value) if value is not None else None
        if line is None or len(line.body) != 1 or not is_repeatable(source, value):
            continue
        a, b = source.span(line)
        places = [
            source.span(n)[0]
            for n in source.nodes()
            if isinstance(n, cst.Name) and n.value == name and first <= source.span(n)[0] < last
        ]
        others = [p for p in places if not begin <= p < end and not a <= p < b]
        start, stop = source.starts[source.line_of(a) - 1], source.starts[source.line_of(b)]
        if not others and "#" not in source.text[start:stop] and starts_line(source, line):
            edits.append(Edit(source.path, start, stop, ""))
    return edits


def _is_operand(source: SourceFile, name: cst.Name) -> bool:
    match source.parent(name):
        case cst.Arg(value=value) | cst.Attribute(value=value) | cst.Subscript(value=value):
            return value is name
        case cst.BinaryOperation() | cst.UnaryOperation():
            return True
    return False


def names_in(node: cst.CSTNode) -> set[str]:
    found: set[str] = set()
    todo = [node]
    while todo:
        one = todo.pop()
        if isinstance(one, cst.Name):
            found.add(one.value)
        todo += [one.value] if isinstance(one, cst.Attribute) else one.children
    return found


def indentation(source: SourceFile, statement: cst.CSTNode) -> str:
    begin = source.span(statement)[0]
    start = source.starts[source.line_of(begin) - 1]
    text = source.text[start:begin]
    return text if not text.strip() else ""


def starts_line(source: SourceFile, statement: cst.CSTNode) -> bool:
    begin = source.span(statement)[0]
    start = source.starts[source.line_of(begin) - 1]
    return not source.text[start:begin].strip()


def optimizers(case: Case) -> Iterator[tuple[SourceFile, Operation]]:
    """Where the program makes its optimizers."""
    for source in case.sources:
        for node in source.nodes():
            made = read(source, node) if isinstance(node, cst.Call) else None
            if made is not None and made.form == "function" and made.name in OPTIMIZERS:
                yield source, made
