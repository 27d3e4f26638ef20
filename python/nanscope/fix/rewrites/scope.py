"""What names stand for, and where statements are, around the failing expression."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch.case import Case
from nanscope.fix.patch.operation import Operation, read
from nanscope.fix.patch.source_file import Edit, SourceFile, apply
from nanscope.telling.functions import functions_that

SCOPES = (cst.FunctionDef, cst.Lambda, cst.ClassDef, cst.Module)
BLOCKS = (cst.IndentedBlock, cst.SimpleStatementSuite, cst.Module)
REPEATING = (cst.For, cst.While, cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)
PICKING = functions_that("moves")
REPEATABLE = PICKING | functions_that("repeatable")
# Not to be moved to another place, but harmless if they are done twice at the same one.
WITHOUT_EFFECT = REPEATABLE | functions_that("harmless")
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
    """Walks the nodes of one scope in the order of the text, not those of the scopes inside it."""
    todo = list(reversed(scope.children))
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, SCOPES):
            todo += reversed(node.children)


def assigned(source: SourceFile, name: str, near: cst.CSTNode) -> cst.BaseExpression | None:
    """What a name was given in this scope before `near`, if that is one plain assignment and would
    be the same if it were computed at `near`.
    """
    place = source.span(near)[0]
    bindings = list(_bindings(source, scope_of(source, near)))
    given = [node for names, node in bindings if name in names]
    if len(given) != 1 or not isinstance(given[0], cst.Assign) or len(given[0].targets) != 1:
        return None
    (only,) = given
    if not isinstance(only.targets[0].target, cst.Name) or source.span(only)[1] > place:
        return None
    since = source.span(only)[0]
    used = names_in(only.value)
    changed = any(used & names and since <= source.span(n)[0] < place for names, n in bindings)
    return only.value if not changed and _reaches(source, only, used, near) else None


def last_binding(
    source: SourceFile, name: str, near: cst.CSTNode
) -> cst.SimpleStatementLine | None:
    """The statement in front of `near` that gives a name its value, also among others."""
    place = source.span(near)[0]
    given = [n for names, n in _bindings(source, scope_of(source, near)) if name in names]
    before = [n for n in given if source.span(n)[1] <= place]
    if not before or not isinstance(before[-1], cst.Assign):
        return None
    last = before[-1]
    bare = any(name in _bare_names(each.target) for each in last.targets)
    return statement_of(source, last) if bare and _reaches(source, last, {name}, near) else None


def _bare_names(target: cst.BaseExpression) -> set[str]:
    """`a`, `a, b`; not `a.b` nor `a[0]`."""
    if isinstance(target, cst.Name):
        return {target.value}
    if isinstance(target, cst.Tuple | cst.List):
        return set().union(*(_bare_names(element.value) for element in target.elements))
    return set()


def _reaches(source: SourceFile, given: cst.Assign, names: set[str], near: cst.CSTNode) -> bool:
    """The assignment is always made before `near`, in no context that has ended by then; and no
    loop or comprehension around `near` alone gives another value to one of the names.
    """
    block = next((p for p in source.parents(given) if isinstance(p, BLOCKS)), source.module)
    for parent in source.parents(near):
        if parent is block:
            return True
        if isinstance(parent, REPEATING) and any(n & names for n, _ in _bindings(source, parent)):
            return False
    return False


def is_bound_between(
    source: SourceFile, name: str, begin: int, end: int, near: cst.CSTNode
) -> bool:
    """Whether the name is given anew between two places in the scope of `near`."""
    bindings = _bindings(source, scope_of(source, near))
    return any(name in names and begin <= source.span(n)[0] < end for names, n in bindings)


def _bindings(source: SourceFile, scope: cst.CSTNode) -> Iterator[tuple[set[str], cst.CSTNode]]:
    """Names that are given another value, and where; also by an operation in place."""
    for node in nodes_in(source, scope):
        match node:
            case cst.Assign():
                for each in node.targets:
                    yield names_in(each.target), node
            case cst.AnnAssign() | cst.AugAssign() | cst.NamedExpr() | cst.For() | cst.CompFor():
                yield names_in(node.target), node
            case cst.AsName() | cst.Param() | cst.FunctionDef() | cst.ClassDef():
                yield names_in(node.name), node
            case cst.Call():
                for changed in _changed_by(read(source, node)):
                    yield names_in(changed), node


def _changed_by(called: Operation | None) -> list[cst.BaseExpression]:
    """`x` of `x.mul_(2)`, `torch.relu_(x)`, `F.relu(x, inplace=True)`, `torch.exp(y, out=x)`."""
    if called is None:
        return []
    option = called.keywords.get("inplace")
    asked = option is not None and not (isinstance(option, cst.Name) and option.value == "False")
    changed = called.operands[:1] if called.in_place or asked else []
    return [*changed, *(value for key, value in called.keywords.items() if key == "out")]


def value_of(
    source: SourceFile, node: cst.BaseExpression, near: cst.CSTNode | None = None
) -> cst.BaseExpression:
    """The expression behind a name, where that is plain and may be computed again, there or at
    `near`; else itself.
    """
    if isinstance(node, cst.Name):
        value = assigned(source, node.value, near or node)
        return value if value is not None and is_repeatable(source, value) else node
    return node


def paired_value(source: SourceFile, node: cst.BaseExpression) -> cst.BaseExpression:
    """The expression behind a name, also of `a, b = x, y`; else itself."""
    if not isinstance(node, cst.Name):
        return node
    given = [g for n, g in _bindings(source, scope_of(source, node)) if node.value in n]
    if len(given) != 1 or not isinstance(given[0], cst.Assign):
        return value_of(source, node)
    target, value = given[0].targets[0].target, given[0].value
    if not isinstance(target, cst.Tuple) or not isinstance(value, cst.Tuple):
        return value_of(source, node)
    names = [source.code(each.value) for each in target.elements]
    if len(names) != len(value.elements) or source.span(value)[1] > source.span(node)[0]:
        return node
    return value.elements[names.index(node.value)].value if node.value in names else node


def unused_lines(source: SourceFile, node: cst.BaseExpression, names: list[str]) -> list[Edit]:
    """The line of `a, b = x, y`, if `node` alone used these names, in its function."""
    scope = scope_of(source, node)
    begin, end = source.span(node)
    given = [g for n, g in _bindings(source, scope) if set(names) & n]
    line = statement_of(source, given[0]) if len({id(g) for g in given}) == 1 else None
    if not isinstance(scope, cst.FunctionDef) or not stands_alone(source, line):
        return []
    span = source.span(line)
    for each in source.nodes():
        if isinstance(each, cst.Name) and each.value in names:
            place = source.span(each)[0]
            inside = begin <= place < end or span[0] <= place < span[1]
            if not inside and source.span(scope)[0] <= place < source.span(scope)[1]:
                return []
    start = source.starts[source.line_of(span[0]) - 1]
    stop = _end_of_line(source, span[1])
    return [] if "#" in source.text[start:stop] else [Edit(source.path, start, stop, "")]


def is_repeatable(source: SourceFile, node: cst.CSTNode) -> bool:
    """All that it calls are operations that cost little and leave nothing behind: no module."""
    return _calls_only(source, node, REPEATABLE)


def may_run_twice(source: SourceFile, node: cst.CSTNode) -> bool:
    """In one statement; a module may not: it may draw, count or cost much."""
    return _calls_only(source, node, WITHOUT_EFFECT)


def _calls_only(source: SourceFile, node: cst.CSTNode, names: set[str]) -> bool:
    todo = [node]
    while todo:
        one = todo.pop()
        called = read(source, one) if isinstance(one, cst.Call) else None
        if isinstance(one, cst.Call) and (called is None or called.name not in names):
            return False
        if _changed_by(called):
            return False
        todo += one.children
    return True


def inlined(
    source: SourceFile, node: cst.BaseExpression, code: str, near: cst.CSTNode | None = None
) -> str:
    """Its text, with what its plain names were given in their places, down to those of `code`."""
    begin, end = source.span(node)
    return apply(source.text[begin:end], inlined_names(source, node, code, near))


def inlined_names(
    source: SourceFile, node: cst.BaseExpression, code: str = "", near: cst.CSTNode | None = None
) -> list[Edit]:
    """The same as edits of the text of the node."""
    near = near or node
    begin, end = source.span(node)
    kept = words(code)
    edits = []
    for inner in source.nodes():
        if not isinstance(inner, cst.Name) or inner.value in kept:
            continue
        a, b = source.span(inner)
        if not (begin <= a and b <= end and _is_operand(source, inner)):
            continue
        value = value_of(source, inner, near)
        if value is not inner:
            text = inlined(source, value, code, near)
            edits.append(Edit(source.path, a - begin, b - begin, f"({text})"))
    return edits


def words(code: str) -> set[str]:
    return set(re.findall(r"\w+", code))


def made_unused(source: SourceFile, node: cst.BaseExpression, code: str) -> list[Edit]:
    """With `code` for `node`: lines of its function that gave a value to a name for it alone."""
    scope = scope_of(source, node)
    if not isinstance(scope, cst.FunctionDef):
        return []  # others may import the name
    first, last = source.span(scope)
    places: dict[str, list[int]] = {}
    for each in source.nodes():
        if isinstance(each, cst.Name) and first <= source.span(each)[0] < last:
            places.setdefault(each.value, []).append(source.span(each)[0])
    used = words(code)
    gone, edits, todo = [source.span(node)], [], sorted(names_in(node) - used)
    while todo:
        name = todo.pop()
        value = assigned(source, name, node)
        line = statement_of(source, value) if value is not None else None
        if line is None or len(line.body) != 1 or not is_repeatable(source, value):
            continue
        span = source.span(line)
        others = [p for p in places[name] if not any(a <= p < b for a, b in [*gone, span])]
        start, stop = source.starts[source.line_of(span[0]) - 1], _end_of_line(source, span[1])
        if not others and "#" not in source.text[start:stop] and starts_line(source, line):
            gone.append(span)
            edits.append(Edit(source.path, start, stop, ""))
            todo += sorted(names_in(value) - used - {name})
    return edits


def _end_of_line(source: SourceFile, offset: int) -> int:
    line = source.line_of(offset)
    return source.starts[line] if line < len(source.starts) else len(source.text)


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


def stands_alone(source: SourceFile, statement: cst.SimpleStatementLine | None) -> bool:
    """It is all that its line, or its lines, hold."""
    return statement is not None and len(statement.body) == 1 and starts_line(source, statement)


def below(source: SourceFile, statement: cst.CSTNode, line: str) -> Edit:
    """A line of its own behind the statement, and behind a comment that stands there."""
    end = source.span(statement)[1]
    tail = source.text[end : _end_of_line(source, end)]
    place = end + len(tail.rstrip("\r\n"))
    text = f"{source.newline}{indentation(source, statement)}{line}"
    return Edit(source.path, place, place, text)


def optimizers(case: Case) -> Iterator[tuple[SourceFile, Operation]]:
    """Where the program makes its optimizers."""
    for source in case.sources:
        for node in source.nodes():
            made = read(source, node) if isinstance(node, cst.Call) else None
            if made is not None and made.form == "function" and made.name in OPTIMIZERS:
                yield source, made
