"""An operation in place on memory that others hold: the next time it meets its own result."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.operation import read
from nanscope.fix.patch.source_file import SourceFile
from nanscope.fix.rewrites.scope import last_binding, stands_alone, statement_of

SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "**"}
# What they return lies in the memory of what they are given.
VIEWS = {
    "asarray", "as_tensor", "detach", "flatten", "from_dlpack", "from_numpy", "narrow", "numpy",
    "permute", "ravel", "reshape", "select", "squeeze", "t", "transpose", "unsqueeze", "view",
}  # fmt: skip
WHY = (
    "it overwrites memory that is not its own, and meets its own result there the next time: the "
    "result gets memory of its own."
)
DEEPEST = 8


def propose(case: Case) -> Iterator[Candidate]:
    """Where the source shows that others hold the memory."""
    return _proposals(case, by_argument=False)


def at_last(case: Case) -> Iterator[Candidate]:
    """Where they may: whoever called, or the sequence that a loop goes through."""
    return _proposals(case, by_argument=True)


def _proposals(case: Case, *, by_argument: bool) -> Iterator[Candidate]:
    source, operation = case.source, case.operation
    if operation is None or not operation.operands or case.backward:
        return
    target, code = operation.operands[0], _out_of_place(case)
    if not code or not _is_shared(source, target, by_argument):
        return
    node = operation.node
    if operation.form != "augmented" and isinstance(source.parent(node), cst.Expr):
        if not isinstance(target, cst.Name) or not stands_alone(source, statement_of(source, node)):
            return  # what calls the name would not see it
        code = f"{target.value} = {code}"
    yield Candidate(
        "own_memory", WHY, [source.edit(node, code)], is_value=False, losses_must_be_kept=True
    )


def _out_of_place(case: Case) -> str:
    """`x.log()` for `x.log_()`, `x = x / s` for `x /= s`; empty for all else."""
    source, operation = case.source, case.operation
    node, target = operation.node, operation.operands[0]
    if operation.form == "augmented" and operation.name in SIGNS:
        if not isinstance(target, cst.Name):
            return ""  # of a part of it, or of an attribute: others are meant to see it
        right = source.code(operation.operands[1])
        simple = isinstance(operation.operands[1], cst.Name | cst.Call | cst.Attribute | cst.Float)
        right = right if simple else f"({source.bare(operation.operands[1])})"
        return f"{target.value} = {target.value} {SIGNS[operation.name]} {right}"
    if operation.form != "method" or not operation.in_place or not isinstance(node, cst.Call):
        return ""
    name = node.func.attr
    begin, end = source.span(node)
    first, last = source.span(name)
    if not name.value.endswith("_"):
        return ""
    return source.text[begin:first] + name.value[:-1] + source.text[last:end]


def _is_shared(
    source: SourceFile, node: cst.BaseExpression, by_argument: bool, depth: int = 0
) -> bool:
    if depth > DEEPEST:
        return False
    if isinstance(node, cst.Subscript | cst.Attribute):
        return not by_argument
    if isinstance(node, cst.Name):
        given = last_binding(source, node.value, node)
        if given is None or not isinstance(given.body[0], cst.Assign):
            return by_argument
        return _is_shared(source, given.body[0].value, by_argument, depth + 1)
    called = read(source, node) if isinstance(node, cst.Call) else None
    if called is None or called.name not in VIEWS or not called.operands:
        return False
    return _is_shared(source, called.operands[0], by_argument, depth + 1)
