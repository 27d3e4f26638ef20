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
        for literal in _literals(source, statement):
            text = source.code(literal)
            if (source.path, source.span(literal)) in seen:
                continue
            seen.add((source.path, source.span(literal)))
            value = "0.0" if text in SPELLED else "-1e4" if "-" in text else "1e4"
            yield Candidate(
                "finite_constant",
                f"{text} is written here and flows into the result: {value} is put in its place.",
                [source.edit(literal, value)],
                workaround=text in SPELLED,
            )


def _literals(source: SourceFile, statement: cst.CSTNode) -> list[cst.BaseExpression]:
    begin, end = source.span(statement)
    found: list[cst.BaseExpression] = []
    for node in source.nodes():
        if not isinstance(node, cst.BaseExpression):
            continue
        a, b = source.span(node)
        if begin <= a and b <= end and source.text[a:b] in SPELLED | INFINITE:
            if not any(source.holds(other, node) for other in found):
                found.append(node)
    return [n for n in found if not any(source.holds(o, n) for o in found if o is not n)]
