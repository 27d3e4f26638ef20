"""Data that came in with NaN or Inf: the samples are left out where they enter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import libcst as cst

from nanscope.findings import TensorFacts
from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.instrument import FIRED
from nanscope.fix.patch.operation import dotted, find, imported
from nanscope.fix.patch.source_file import Edit, SourceFile
from nanscope.fix.rewrites.scope import (
    SCOPES,
    below,
    indentation,
    is_bound_between,
    names_in,
    stands_alone,
    starts_line,
    statement_of,
    words,
)

TABLES = ("read_csv", "read_table")
READERS = {
    ("numpy", "genfromtxt"), ("numpy", "loadtxt"), ("numpy", "load"), ("pandas", "read_csv"),
    ("pandas", "read_table"),
}  # fmt: skip


def propose(case: Case) -> Iterator[Candidate]:
    places = list(_entrances(case))
    for place in places:
        if place.dims != 1:
            yield _filter(case, place)
    for place in places:
        yield _fill(place)


def of_reader(case: Case) -> Iterator[Candidate]:
    """`table = np.genfromtxt(...)`: rows that are not finite are left out where they are read."""
    if case.origin.kind != "imported":
        return
    read_here = [found for source in case.sources for found in _readings(source)]
    if len(read_here) != 1:
        return  # which of them it was is not known
    source, statement, name, module, reader = read_here[0]
    if reader in TABLES:
        keep, is_bad = f"{name} = {name}.dropna()", f"{name}.isna().any().any()"
    else:
        keep = f"{name} = {name}[{module}.isfinite({name}).all(axis=1)]"
        is_bad = f"not {module}.isfinite({name}).all()"
    yield Candidate(
        "leave_out_rows",
        f"`{name}` is read with rows that are not finite: they are left out there. Better still, "
        "repair the file.",
        [below(source, statement, f"{keep}  # leave out rows that are not finite")],
        alters="rows that are not finite are left out",
        fires=[below(source, statement, f"{is_bad} and __nanscope__.fired({FIRED})")],
    )


def _readings(source: SourceFile) -> Iterator[tuple]:
    """Statements that give a name to what a reader of NumPy or pandas brings."""
    known = imported(source)
    for node in source.nodes():
        match node:
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.Call() as call
            ):
                module, _, reader = dotted(call.func).rpartition(".")
                statement = statement_of(source, node)
                is_reader = (known.get(module), reader) in READERS
                if is_reader and stands_alone(source, statement):
                    yield source, statement, name, module, reader


def _of_loop(source: SourceFile, node: cst.CSTNode) -> Iterator[Entrance]:
    """`for x, y in loader:`: what is drawn is read by the first statement inside."""
    for parent in source.parents(node):
        if isinstance(parent, SCOPES) or isinstance(parent, cst.SimpleStatementLine):
            return
        if isinstance(parent, cst.For) and source.holds(parent.iter, node):
            first = parent.body.body[0] if isinstance(parent.body, cst.IndentedBlock) else None
            if isinstance(first, cst.SimpleStatementLine):
                for name in sorted(names_in(parent.target)):
                    yield Entrance(source, first, name)
            return


@dataclass
class Entrance:
    """A statement that reads a name which is not finite there."""

    source: SourceFile
    statement: cst.SimpleStatementLine
    name: str
    dims: int | None = None  # None: not known
    facts: TensorFacts | None = None


def _entrances(case: Case) -> Iterator[Entrance]:
    """By the inputs of the op that read it; of a value that the source wrote, the next reader."""
    if case.source is not None and case.node is not None:
        yield from _of_loop(case.source, case.node)
    statement = _statement(case.source, case.node) if case.source is not None else None
    if statement is not None and case.origin.kind != "declared":
        here = words(case.source.bare(case.node))
        for facts in case.finding.inputs:
            bad = facts.nan + facts.pos_inf + facts.neg_inf
            if not bad or facts.parameter:
                continue
            if facts.name.isidentifier() and facts.name in here:
                dims = len(facts.shape)
                yield Entrance(case.source, statement, facts.name, dims, facts)
            else:  # of an op inside a module: what that is called with
                for name in _names_given(case.node):
                    yield Entrance(case.source, statement, name)
    for link in case.finding.chain[1:]:
        source = case.file(link.site.file) if link.site.file else None
        if source is None or link.site.line == case.origin.site.line:
            continue
        node = find(source, link.site)
        statement = _statement(source, node)
        if statement is None or not isinstance(node, cst.Call):
            return
        for name in _names_given(node):
            yield Entrance(source, statement, name)
        return


def _names_given(node: cst.CSTNode | None) -> list[str]:
    """But no condition: that is no data."""
    arguments = node.args if isinstance(node, cst.Call) else ()
    called = dotted(node.func).rpartition(".")[2] if isinstance(node, cst.Call) else ""
    if called == "where":
        arguments = arguments[1:]
    elif called in ("masked_fill", "masked_fill_"):
        arguments = arguments[:-2]
    return [a.value.value for a in arguments if isinstance(a.value, cst.Name)]


def _statement(source: SourceFile, node: cst.CSTNode | None) -> cst.SimpleStatementLine | None:
    statement = statement_of(source, node) if node is not None else None
    return statement if statement is not None and starts_line(source, statement) else None


def _samples(case: Case, facts: TensorFacts) -> str:
    """Says in which rows the failing elements are."""
    rows = sorted({index[0] for index in case.origin.indices if index})
    if not rows or len(case.origin.indices[0]) != len(facts.shape):
        return ""
    return f" (here row{'s' if len(rows) > 1 else ''} {', '.join(map(str, rows[:8]))})"


def _filter(case: Case, place: Entrance) -> Candidate:
    name = place.name
    finite = f"{name}.isfinite().flatten(1).all(dim=1)"
    beside = _drawn_with(place)
    moved = beside is not None and _is_changed_since(place, beside[0])
    if place.dims == 2 and not moved:
        finite = f"{name}.isfinite().all(dim=1)"
    why = "leave out samples that are not finite"
    lines = [f"{name} = {name}[{finite}]  # {why}"]
    if beside is not None:
        place, names = replace(place, statement=beside[0]), beside[1]
        keep = next((k for k in ("keep", "finite") if k not in place.source.text), "finite_rows")
        picked = ", ".join(f"{each}[{keep}]" for each in names)
        lines = [f"{keep} = {finite}  # {why}", f"{', '.join(names)} = {picked}"]
    samples = _samples(case, place.facts) if place.facts else ""
    return Candidate(
        "filter_samples",
        f"`{name}` holds samples that are not finite{samples}: they are left out. "
        "Better still, repair the data.",
        [_above(place, *lines)],
        fires=[_fires(place)],
    )


def _drawn_with(place: Entrance) -> tuple[cst.SimpleStatementLine, list[str]] | None:
    """`for x, y in loader:`: the first statement of the loop, and all that it draws."""
    for parent in place.source.parents(place.statement):
        if isinstance(parent, SCOPES):
            return None
        if isinstance(parent, cst.For) and place.name in names_in(parent.target):
            drawn = parent.target
            last = drawn.elements[-1].value if isinstance(drawn, cst.Tuple) else None
            if last is not None and "enumerate" in names_in(parent.iter):
                drawn = last  # not the counter
            elif isinstance(last, cst.Tuple):
                drawn = last
            if not isinstance(drawn, cst.Tuple) or not isinstance(parent.body, cst.IndentedBlock):
                return None
            names = [e.value.value for e in drawn.elements if isinstance(e.value, cst.Name)]
            first = parent.body.body[0]
            whole = len(names) == len(drawn.elements) and place.name in names
            return (first, names) if whole and isinstance(first, cst.SimpleStatementLine) else None
    return None


def _is_changed_since(place: Entrance, first: cst.SimpleStatementLine) -> bool:
    """Between the top of the loop and the reader it is given another value, perhaps a shape."""
    begin, end = place.source.span(first)[0], place.source.span(place.statement)[0]
    return is_bound_between(place.source, place.name, begin, end, place.statement)


def _fill(place: Entrance) -> Candidate:
    return Candidate(
        "fill_missing",
        f"`{place.name}` is not finite where it comes in: what is missing is taken as 0.",
        [_above(place, f"{place.name} = torch.nan_to_num({place.name})")],
        workaround=True,
        hides=True,
        fires=[_fires(place)],
    )


def _above(place: Entrance, *lines: str) -> Edit:
    source = place.source
    begin = source.span(place.statement)[0]
    gap = f"{source.newline}{indentation(source, place.statement)}"
    return Edit(source.path, begin, begin, "".join(line + gap for line in lines))


def _fires(place: Entrance) -> Edit:
    call = f"not {place.name}.isfinite().all() and __nanscope__.fired({FIRED})"
    return _above(place, call)
