"""Data that came in with NaN or Inf: the samples are left out where they enter."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.candidate import Candidate
from nanscope.fix.case import Case
from nanscope.fix.instrument import FIRED
from nanscope.fix.rewrites.scope import indentation, starts_line, statement_of
from nanscope.fix.source_file import Edit, SourceFile


def propose(case: Case) -> Iterator[Candidate]:
    for source, name, facts in _entrances(case):
        statement = _first_use(case, source, name)
        if statement is None:
            continue
        if len(facts["shape"]) > 1 and facts["shape"][0] > 1:
            yield _filter(case, source, statement, name, facts)
    for source, name, _ in _entrances(case):
        statement = _first_use(case, source, name)
        if statement is not None:
            yield _fill(source, statement, name)


def _entrances(case: Case) -> Iterator[tuple[SourceFile, str, dict]]:
    """Names of inputs that were not finite when an op of the user's read them."""
    if case.source is None:
        return
    for facts in case.finding["inputs"]:
        bad = facts["nan"] + facts["pos_inf"] + facts["neg_inf"]
        if bad and facts["name"].isidentifier() and not facts.get("parameter"):
            yield case.source, facts["name"], facts


def _first_use(case: Case, source: SourceFile, name: str) -> cst.SimpleStatementLine | None:
    if case.node is None:
        return None
    statement = statement_of(source, case.node)
    if statement is None or not starts_line(source, statement):
        return None
    return statement


def _samples(case: Case, facts: dict) -> str:
    """Of the failing elements, the first coordinate."""
    rows = sorted({index[0] for index in case.origin["indices"] if index})
    if not rows or len(case.origin["indices"][0]) != len(facts["shape"]):
        return ""
    return f" (here row{'s' if len(rows) > 1 else ''} {', '.join(map(str, rows[:8]))})"


def _filter(case: Case, source: SourceFile, statement, name: str, facts: dict) -> Candidate:
    begin = source.span(statement)[0]
    indent = indentation(source, statement)
    dims = "dim=1" if len(facts["shape"]) == 2 else f"dim={tuple(range(1, len(facts['shape'])))}"
    line = f"{name} = {name}[{name}.isfinite().all({dims})]"
    if len(facts["shape"]) > 2:
        line = f"{name} = {name}[{name}.isfinite().flatten(1).all(dim=1)]"
    note = "  # leave out samples that are not finite"
    insertion = Edit(source.path, begin, begin, f"{line}{note}{source.newline}{indent}")
    fires = Edit(
        source.path,
        begin,
        begin,
        f"not {name}.isfinite().all() and __nanscope__.fired({FIRED})\n{indent}",
    )
    return Candidate(
        "filter_samples",
        f"`{name}` holds samples that are not finite{_samples(case, facts)}: they are left out. "
        "Better still, repair the data.",
        [insertion],
        fires=[fires],
    )


def _fill(source: SourceFile, statement, name: str) -> Candidate:
    begin = source.span(statement)[0]
    indent = indentation(source, statement)
    line = f"{name} = torch.nan_to_num({name})"
    fires = Edit(
        source.path,
        begin,
        begin,
        f"not {name}.isfinite().all() and __nanscope__.fired({FIRED})\n{indent}",
    )
    return Candidate(
        "fill_missing",
        f"`{name}` is not finite where it comes in: what is missing is taken as 0.",
        [Edit(source.path, begin, begin, f"{line}{source.newline}{indent}")],
        workaround=True,
        fires=[fires],
    )
