"""Puts calls of the probe (probe.py) into a patched source, so that it also measures."""

from __future__ import annotations

import ast
import copy

import libcst as cst

from nanscope.fix.patch.candidate import Candidate, Comparison
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.operation import dotted, imported
from nanscope.fix.patch.source_file import Edit, SourceFile, apply

COMPARED, RAN, FIRED = 0, 1, 2
PROBE = "__nanscope__"


def patched(case_files: dict[str, SourceFile], candidate: Candidate) -> dict[str, SourceFile]:
    """The files with the patch and nothing else."""
    by_path: dict[str, list[Edit]] = {}
    for edit in [*candidate.comments, *candidate.edits]:
        by_path.setdefault(edit.path, []).append(edit)
    return {path: case_files[path].with_edits(edits) for path, edits in by_path.items()}


def measuring(case: Case, candidate: Candidate) -> dict[str, SourceFile]:
    """The files with the patch and the calls that measure it."""
    if candidate.unmeasured:
        return patched(case.files, candidate)
    comparison = candidate.compare or _comparison(case, candidate)
    counts = _texts_of(case, candidate.count) if candidate.count else set()
    probe_call = _compare_call(case, comparison, counts) if comparison else None
    if probe_call is not None:
        files = _with_calls(case, candidate, comparison, probe_call)
        if all(_is_python(source) for source in files.values()):
            return files  # inside an f-string not every expression can stand
    return _with_calls(case, candidate, comparison, None)


def _is_python(source: SourceFile) -> bool:
    if not source.is_python:
        return True  # settings
    try:
        compile(source.data, source.path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def _with_calls(case: Case, candidate: Candidate, comparison, probe_call: str | None):
    edits = list(candidate.edits)
    if probe_call is not None:
        edits = [e for e in edits if not comparison.alone and not _is_inside(e, comparison)]
        edits.append(Edit(comparison.path, comparison.begin, comparison.end, probe_call))
    else:
        edits = _with_ran(case, edits)
    edits = [*candidate.fires, *edits]  # first fires, then acts
    calling = {e.path for e in edits if PROBE in e.text}
    edits += [e for path in calling for e in _with_name(case.files[path])]
    return patched(case.files, Candidate(candidate.id, "", edits))


def _with_name(source: SourceFile) -> list[Edit]:
    """The probe as a name of the file, behind its first import and on the same line: a compiler
    knows no builtins but Python's own.
    """
    for statement in source.module.body:
        small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
        future = isinstance(small, cst.ImportFrom) and dotted(small.module) == "__future__"
        if isinstance(small, cst.Import | cst.ImportFrom) and not future:
            end = source.span(statement.body[-1])[1]
            return [Edit(source.path, end, end, f"; from builtins import {PROBE}")]
    return []


def _is_inside(edit: Edit, comparison: Comparison) -> bool:
    return (
        edit.path == comparison.path
        and comparison.begin <= edit.begin
        and edit.end <= comparison.end
    )


def _comparison_of_text(case: Case, candidate: Candidate) -> Comparison | None:
    return _comparison(case, candidate, made_of=False)


def _comparison(case: Case, candidate: Candidate, made_of: bool = True) -> Comparison | None:
    """Compares the failing expression itself, if all edits are inside it; with `made_of`, from
    what its operands are made of.
    """
    source, node = case.source, case.node
    if node is None or candidate.fires or not candidate.is_value:
        return None
    begin, end = source.span(node)
    if any(e.path != source.path or e.begin < begin or e.end > end for e in candidate.edits):
        return None
    before = source.text[begin:end]
    moved = [Edit(e.path, e.begin - begin, e.end - begin, e.text) for e in candidate.edits]
    behind = _behind_names(source, node) if made_of else []
    try:  # from what its operands were made of, float64 knows more
        pair = apply(before, behind), apply(before, [*behind, *moved])
    except ValueError:
        pair = before, apply(before, moved)
    return Comparison(source.path, begin, end, *pair)


def _behind_names(
    source: SourceFile, node: cst.CSTNode, near: cst.CSTNode | None = None
) -> list[Edit]:
    """Puts what plain names in an expression were given in their places."""
    from nanscope.fix.rewrites.scope import inlined_names

    return inlined_names(source, node, near=near) if isinstance(node, cst.BaseExpression) else []


def as_functions(case: Case, candidate: Candidate) -> tuple[str, list[str], str, str] | None:
    """The failing expression and its patched form as functions of what they have in common: the
    names of their arguments, what is given for each, and the two results.
    """
    comparison = candidate.compare or _comparison_of_text(case, candidate)
    if comparison is None:
        return None
    original, patch = _parse(comparison.original), _parse(comparison.patched)
    if not isinstance(original, ast.expr) or not isinstance(patch, ast.expr):
        return None
    modules = set(imported(case.files[comparison.path]))
    names, common, codes = _in_common(original, patch, modules)
    return names, common, *codes


def _compare_call(case: Case, comparison: Comparison, counts: set[str]) -> str | None:
    source = case.files[comparison.path]
    text = source.text[comparison.begin : comparison.end]
    original, patch = _parse(comparison.original), _parse(comparison.patched)
    if original is None or patch is None:
        return None
    modules = set(imported(source))
    lines = "\n" * text.count("\n")
    if isinstance(original, ast.AugAssign):
        # `x /= y`: both are computed beside it, and only the right side is put into the program.
        pair = _beside(original), _beside(patch)
        if None in pair:
            return None
        names, arguments, (first, second) = _in_common(*pair, modules)
        common = "".join(f", {_watched_count(one, counts)}" for one in arguments)
        value = ast.unparse(patch.value)
        target = ast.unparse(original.target)
        operator = text[len(target) :].lstrip()[:3].rstrip(" (")
        given = f"lambda {names}: {first}, lambda {names}: {second}, lambda *_: ({value}){common}"
        return f"{target} {operator} __nanscope__.compare({COMPARED}, {given}{lines})"
    if isinstance(original, ast.stmt) or isinstance(patch, ast.stmt):
        return None
    names, arguments, (first, second) = _in_common(original, patch, modules)
    common = "".join(f", {_watched_count(one, counts)}" for one in arguments)
    given = f"lambda {names}: {first}, lambda {names}: {second}, lambda {names}: {second}{common}"
    return f"__nanscope__.compare({COMPARED}, {given}{lines})"


def _texts_of(case: Case, code: str) -> set[str]:
    """How an operand may be spelled: as it stands there, and with what its names were given."""
    source, node = case.source, case.node
    found = {code}
    for inner in source.nodes() if node is not None else ():
        if isinstance(inner, cst.BaseExpression) and source.holds(node, inner):
            if source.bare(inner) == code:
                found.add(apply(code, _behind_names(source, inner, node)))
    parsed = [_parse(text) for text in found]
    return {ast.unparse(one) for one in parsed if isinstance(one, ast.expr)}


def _watched_count(argument: str, counts: set[str]) -> str:
    """Lets the probe see whether an operand takes whole numbers only."""
    return f"__nanscope__.counted({COMPARED}, {argument})" if argument in counts else argument


def _parse(text: str) -> ast.expr | ast.AugAssign | None:
    try:
        return ast.parse(f"({text}\n)", mode="eval").body
    except SyntaxError:
        pass
    try:
        body = ast.parse(text.strip()).body
    except SyntaxError:
        return None
    return body[0] if len(body) == 1 and isinstance(body[0], ast.AugAssign) else None


def _beside(statement: ast.stmt) -> ast.expr | None:
    if not isinstance(statement, ast.AugAssign):
        return None
    target = copy.deepcopy(statement.target)
    target.ctx = ast.Load()
    return ast.BinOp(target, statement.op, statement.value)


def _in_common(
    first: ast.expr, second: ast.expr, modules: set[str]
) -> tuple[str, list[str], tuple]:
    """Makes what both compute alike an argument: evaluated once, where the program does."""
    there = {ast.dump(node) for node in ast.walk(second) if isinstance(node, ast.expr)}
    common: dict[str, ast.expr] = {}
    if ast.dump(first) in there:  # the patched contains the whole original: what goes into it
        _collect_inside(first, there, modules, common)
    else:
        _collect(first, there, modules, common)
    names = {dump: f"_common{i}" for i, dump in enumerate(common)}
    codes = tuple(ast.unparse(_Replace(names).visit(copy.deepcopy(e))) for e in (first, second))
    return ", ".join(names.values()), [ast.unparse(node) for node in common.values()], codes


def _collect(node: ast.AST, there: set[str], modules: set[str], common: dict) -> None:
    if _is_name_of_module(node, modules) or not any(
        isinstance(inner, ast.Name) for inner in ast.walk(node)
    ):
        return  # what is written as a number is none that the program could be given
    if isinstance(node, ast.expr) and not isinstance(node, ast.Starred):
        if ast.dump(node) in there and not isinstance(node, ast.Lambda | ast.Slice):
            common[ast.dump(node)] = node
            return
    _collect_inside(node, there, modules, common)


def _collect_inside(node: ast.AST, there: set[str], modules: set[str], common: dict) -> None:
    if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp | ast.Lambda):
        return  # names inside are its own
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            _collect(node.func.value, there, modules, common)
        for child in [*node.args, *(k.value for k in node.keywords)]:
            _collect(child, there, modules, common)
        return
    for child in ast.iter_child_nodes(node):
        _collect(child, there, modules, common)


def _is_name_of_module(node: ast.AST, modules: set[str]) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in modules


class _Replace(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit(self, node: ast.AST) -> ast.AST:
        name = self.names.get(ast.dump(node)) if isinstance(node, ast.expr) else None
        return ast.Name(name, ast.Load()) if name else super().visit(node)


def _with_ran(case: Case, edits: list[Edit]) -> list[Edit]:
    """Counts how often the failing expression runs, or the new one where that is in its way."""
    source, node = case.source, case.node
    if not isinstance(node, cst.BaseExpression) or _in_fstring(source, node):
        return edits
    begin, end = source.whole_span(node)
    touched = any(e.path == source.path and e.begin < end and begin < e.end for e in edits)
    if touched or _is_target(source, node):
        return [_counted(e) for e in edits]
    before = Edit(source.path, begin, begin, f"__nanscope__.ran({RAN}, ")
    return [*edits, before, Edit(source.path, end, end, ")")]


def _counted(edit: Edit) -> Edit:
    """Counts how often the new expression runs, if the edit puts in a whole one, or `x = ...`."""
    if edit.begin == edit.end:
        return edit
    target, equals, value = "", "", edit.text
    if not isinstance(_parse(value), ast.expr):
        target, equals, value = edit.text.partition(" = ")
    if not target.isidentifier() and equals or not isinstance(_parse(value), ast.expr):
        return edit
    text = f"{target}{equals}__nanscope__.ran({RAN}, {value})"
    return Edit(edit.path, edit.begin, edit.end, text)


def _in_fstring(source: SourceFile, node: cst.CSTNode) -> bool:
    return any(isinstance(p, cst.FormattedString) for p in source.parents(node))


def _is_target(source: SourceFile, node: cst.CSTNode) -> bool:
    parent = source.parent(node)
    return isinstance(parent, cst.AssignTarget | cst.Del | cst.Decorator)
