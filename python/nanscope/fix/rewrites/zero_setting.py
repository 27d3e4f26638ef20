"""A number that divides is 0 because a setting is: it is changed where it is written.

Which setting that is shows the run: with the right one, the divisor is never 0.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.operation import dotted
from nanscope.fix.patch.source_file import SourceFile
from nanscope.fix.rewrites.counts import is_count
from nanscope.fix.rewrites.division import divisor_of

MOST = 4  # settings that are tried


def propose(case: Case) -> Iterator[Candidate]:
    divisor = divisor_of(case.operation)
    if divisor is None or case.number("other") != 0 or is_count(case, divisor, None):
        return
    found = [(s, name, literal) for s in case.sources for name, literal in _zeros(s)]
    for settings in case.settings_files:
        found += [(settings, n.key, n) for n in settings.numbers() if n.evaluated_value == 0]
    for source, name, literal in found[:MOST]:
        yield Candidate(
            "positive_setting",
            f"`{name}` is {source.code(literal)} and makes {case.source.shown(divisor)} 0: it has "
            "to be positive. How large is for you to choose.",
            [source.edit(literal, "0.1")],
            changes_training=True,
        )


def _zeros(source: SourceFile) -> Iterator[tuple[str, cst.Float]]:
    """Settings that are written as 0.0: a default, an entry of a dictionary, a field."""
    for node in source.nodes():
        name, value = _setting(source, node)
        if isinstance(value, cst.Float) and value.evaluated_value == 0:
            yield name, value


def _setting(source: SourceFile, node: cst.CSTNode) -> tuple[str, cst.BaseExpression | None]:
    match node:
        case cst.Param(name=cst.Name(value=name), default=value):
            return name, value
        case cst.AnnAssign(target=target, value=value):
            return source.code(target), value
        case cst.DictElement(key=cst.SimpleString() as key, value=value):
            return str(key.evaluated_value), value
        case cst.Call() if dotted(node.func).endswith("add_argument") and node.args:
            options = {a.keyword.value: a.value for a in node.args if a.keyword is not None}
            return source.code(node.args[0].value), options.get("default")
    return "", None
