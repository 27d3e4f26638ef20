"""A NaN or Inf that is written in the source itself."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.operation import find
from nanscope.fix.patch.source_file import SourceFile
from nanscope.fix.rewrites.scope import statement_of

SPELLED = {"math.nan", "np.nan", "torch.nan", "numpy.nan", "float('nan')", 'float("nan")'}
INFINITE = {
    "math.inf", "np.inf", "torch.inf", "float('inf')", 'float("inf")', "-math.inf", "-np.inf",
    "-torch.inf", "float('-inf')", 'float("-inf")', "-float('inf')", '-float("inf")',
}  # fmt: skip


def propose(case: Case) -> Iterator[Candidate]:
    sites = [case.origin.site]
    sites += [x.site for x in case.finding.chain if x.role in ("declared", "imported")]
    seen = set()
    for site in sites:
        source = case.file(site.file) if site.file else None
        if source is None:
            continue
        node = find(source, site)
        statement = statement_of(source, node) if node is not None else None
        if statement is None:
            continue
        for literal, text in _literals(source, statement):
            if (source.path, source.span(literal)) in seen:
                continue
            seen.add((source.path, source.span(literal)))
            value = "0.0" if text in SPELLED else "-1e4" if "-" in text else "1e4"
            shown = source.code(literal)
            shown = shown if shown == text else f"`{shown}`, {text},"
            yield Candidate(
                "finite_constant",
                f"{shown} is written here and flows into the result: {value} is put in its place.",
                [source.edit(literal, value)],
                workaround=text in SPELLED,
            )


def _literals(source: SourceFile, statement: cst.CSTNode) -> list[tuple[cst.BaseExpression, str]]:
    """With what each spells: itself, or what its name was given."""
    begin, end = source.span(statement)
    named = _constants(source)
    found: dict[cst.BaseExpression, str] = {}
    for node in source.nodes():
        if not isinstance(node, cst.BaseExpression):
            continue
        a, b = source.span(node)
        text = source.text[a:b]
        if not (begin <= a and b <= end):
            continue
        if text in SPELLED | INFINITE:
            found[node] = text
        elif isinstance(node, cst.Name) and text in named and _is_argument(source, node):
            found[node] = named[text]
    outermost = [n for n in found if not any(source.holds(o, n) for o in found if o is not n)]
    return [(node, found[node]) for node in outermost]


def _is_argument(source: SourceFile, node: cst.Name) -> bool:
    parent = source.parent(node)
    return isinstance(parent, cst.Arg) and parent.value is node


def _constants(source: SourceFile) -> dict[str, str]:
    """Names that the module gives a NaN or Inf, once, and nobody else anything."""
    given: dict[str, list[str]] = {}
    for node in source.nodes():
        match node:
            case cst.AssignTarget(target=cst.Name(value=name)):
                assign = source.parent(node)
                top = isinstance(source.parent(source.parent(assign)), cst.Module)
                text = source.code(assign.value) if top else ""
                given.setdefault(name, []).append(text)
            case (
                cst.AugAssign(target=cst.Name(value=name))
                | cst.AnnAssign(target=cst.Name(value=name))
            ):
                given.setdefault(name, []).append("")
            case cst.Param(name=cst.Name(value=name)):
                given.setdefault(name, []).append("")
    known = SPELLED | INFINITE
    once = {name: texts[0] for name, texts in given.items() if len(texts) == 1}
    return {name: text for name, text in once.items() if text in known}
