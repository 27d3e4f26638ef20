"""acos, asin, atanh, acosh, erfinv, ndtri on or beyond the edge of their domain."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.operation import read
from nanscope.fix.patch.source_file import Edit

EDGE = {"float64": "1e-12", "float32": "1e-7", "float16": "1e-3", "bfloat16": "1e-2"}
# 1 less this is the number before 1, and 1 and this the number behind it: no value inside the
# domain is moved.
LAST = {"float64": "1.2e-16", "float32": "6e-8", "float16": "5e-4", "bfloat16": "4e-3"}
INFINITE = ("atanh", "erfinv", "ndtri")  # at the edge itself
SAME = {"arccos": "acos", "arcsin": "asin", "arctanh": "atanh", "arccosh": "acosh"}


def propose(case: Case) -> Iterator[Candidate]:
    operation = case.operation
    name = SAME.get(operation.name, operation.name) if operation is not None else ""
    if name not in ("acos", "asin", "atanh", "acosh", *INFINITE) or not operation.operands:
        return
    operand = operation.operands[0]
    shown = case.source.shown(operand)
    choices = [("min=1.0" if name == "acosh" else "-1.0, 1.0", "by rounding")]
    if case.backward or case.finding.makers or name in INFINITE:
        choices = []  # at the edge itself the slope is infinite
    for edge in (EDGE[case.dtype], LAST[case.dtype]):
        inside = f"-1 + {edge}, 1 - {edge}"
        inside = f"min=1 + {edge}" if name == "acosh" else inside
        inside = f"{edge}, 1 - {edge}" if name == "ndtri" else inside
        what = "it" if name in INFINITE else "its slope"
        choices.append((inside, f"where {what} is infinite"))
    for bounds, how in choices:
        edits = _bounds_of_clamp(case, operand, bounds)
        yield Candidate(
            f"clamp_before_{name}",
            f"{shown} reaches the edge of the domain of {name}, {how}: it is kept inside.",
            edits or operation.wrap(operand, f"clamp({bounds})"),
        )


def _bounds_of_clamp(case: Case, operand: cst.BaseExpression, bounds: str) -> list[Edit]:
    """`x.clamp(-1, 1)` is there already: its bounds are drawn in."""
    clamp = read(case.source, operand)
    if clamp is None or clamp.name != "clamp" or clamp.form != "method" or not clamp.node.args:
        return []
    begin = case.source.span(clamp.node.args[0])[0]
    end = case.source.span(clamp.node.args[-1])[1]
    return [Edit(case.source.path, begin, end, bounds)]
