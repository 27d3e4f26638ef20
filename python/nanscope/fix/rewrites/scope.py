"""What names stand for, and where statements are, around the failing expression."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.source_file import SourceFile

SCOPES = (cst.FunctionDef, cst.Lambda, cst.ClassDef, cst.Module)


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
    """The expression behind a name, where that is plain; else itself."""
    if isinstance(node, cst.Name):
        return assigned(source, node.value, node) or node
    return node


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
