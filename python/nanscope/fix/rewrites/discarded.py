"""A value that is thrown away in forward, whose slope comes back in backward: the double where."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch.candidate import Candidate, Comparison
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.operation import Operation, primary, read
from nanscope.fix.patch.source_file import Edit, SourceFile, apply
from nanscope.fix.rewrites import division
from nanscope.fix.rewrites.scope import may_run_twice, names_in, nodes_in, scope_of, statement_of

# A harmless argument, and the condition under which the true one is.
HARMLESS = {
    "log": ("1.0", "{x} > 0"),
    "log2": ("1.0", "{x} > 0"),
    "log10": ("1.0", "{x} > 0"),
    "sqrt": ("1.0", "{x} > 0"),
    "rsqrt": ("1.0", "{x} > 0"),
    "reciprocal": ("1.0", "{x} != 0"),
    "pow": ("1.0", "{x} > 0"),
    "acos": ("0.0", "{x}.abs() < 1"),
    "asin": ("0.0", "{x}.abs() < 1"),
    "atanh": ("0.0", "{x}.abs() < 1"),
    "exp": ("0.0", "{x} < 80"),
}
WHY = (
    "the branch that is thrown away still has a slope, and it is not finite: where the value is "
    "not used, it is computed from a harmless one."
)


def of_where(case: Case) -> Iterator[Candidate]:
    """Only where a torch.where stands around it, or is given it by name: with its condition."""
    if case.backward and case.operation is not None and _of_where(case, case.operation):
        yield from list(propose(case))[:1]


def propose(case: Case) -> Iterator[Candidate]:
    operation = case.operation
    if operation is None or not operation.operands:
        return
    operand = operation.operands[0]
    harmless, condition = HARMLESS.get(operation.name, ("", ""))
    if operation.name == "div":
        operand = division.divisor_of(operation)
        harmless, condition = "1.0", "{x} != 0"
    if not harmless or operand is None or operation.in_place:
        return
    conditions = [_of_where(case, operation)]
    if may_run_twice(case.source, operand):
        conditions.append(condition.format(x=primary(case.source, operand)))
    around = _where_around(case, operation)
    for text in dict.fromkeys(c for c in conditions if c):
        code = f"torch.where({text}, {case.source.bare(operand)}, {harmless})"
        edit = case.source.edit(operand, code)
        compare = _of_whole(case.source, around, edit) if around is not None else None
        yield Candidate("double_where", WHY, [edit], compare=compare)


def _where_around(case: Case, operation: Operation) -> cst.CSTNode | None:
    """The torch.where that the expression stands in: what it throws away need not be kept."""
    for parent in case.source.parents(operation.node):
        where = read(case.source, parent) if isinstance(parent, cst.Call) else None
        if where is not None and where.name == "where" and len(where.operands) == 3:
            return parent
        if isinstance(parent, cst.BaseSmallStatement):
            break
    return None


def _of_whole(source: SourceFile, node: cst.CSTNode, edit: Edit) -> Comparison:
    begin, end = source.span(node)
    before = source.text[begin:end]
    moved = Edit(edit.path, edit.begin - begin, edit.end - begin, edit.text)
    return Comparison(source.path, begin, end, before, apply(before, [moved]))


def _of_where(case: Case, operation: Operation) -> str | None:
    """The condition of the torch.where that throws this value away."""
    source = case.source
    for parent in source.parents(operation.node):
        text = _condition(source, read(source, parent), lambda n: source.holds(n, operation.node))
        if text is not None:
            return text
        if isinstance(parent, cst.BaseSmallStatement):
            break
    statement = statement_of(source, operation.node)
    target = _target(statement)
    if target is None:
        return None
    for node in nodes_in(source, scope_of(source, operation.node)):
        where = read(source, node) if isinstance(node, cst.Call) else None
        text = _condition(source, where, lambda n: isinstance(n, cst.Name) and n.value == target)
        if text is not None and target not in names_in(where.operands[0]):
            return text
    return None


def _condition(source, where: Operation | None, is_it) -> str | None:
    if where is None or where.name != "where" or len(where.operands) != 3:
        return None
    if where.form != "function":
        return None
    condition, first, second = where.operands
    text = source.code(condition)
    if is_it(first):
        return text
    if is_it(second):
        return f"~({source.bare(condition)})"
    return None


def _target(statement: cst.SimpleStatementLine | None) -> str | None:
    if statement is None:
        return None
    for small in statement.body:
        if isinstance(small, cst.Assign) and isinstance(small.targets[0].target, cst.Name):
            return small.targets[0].target.value
    return None
