"""Comments inside an expression that is replaced: they go above its statement."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.source_file import Edit, SourceFile

STATEMENTS = cst.SimpleStatementLine | cst.BaseCompoundStatement | cst.Decorator
INDENT = re.compile(r"[ \t\f]*")


def with_comments(files: dict[str, SourceFile], candidate: Candidate) -> Candidate:
    """The same patch, and the comments that its edits would cut away."""
    moved = [moved for edit in candidate.edits for moved in _moved(files[edit.path], edit)]
    return replace(candidate, comments=moved)


def _moved(source: SourceFile, edit: Edit) -> Iterator[Edit]:
    lost = list(_lost(source, edit)) if "#" in source.text[edit.begin : edit.end] else []
    if lost:
        place = _line_above(source, lost[0])
        indent = INDENT.match(source.text, place).group()
        text = "".join(f"{indent}{comment.value}{source.newline}" for comment in lost)
        yield Edit(source.path, place, place, text)


def _lost(source: SourceFile, edit: Edit) -> Iterator[cst.Comment]:
    """Those of the cut that the new text does not hold."""
    left: dict[str, int] = {}
    for node in source.nodes():
        if isinstance(node, cst.Comment) and edit.begin <= source.span(node)[0] < edit.end:
            left.setdefault(node.value, edit.text.count(node.value))
            left[node.value] -= 1
            if left[node.value] < 0:
                yield node


def _line_above(source: SourceFile, node: cst.CSTNode) -> int:
    """Where the line begins that the innermost statement around it opens."""
    for parent in source.parents(node):
        if isinstance(parent, STATEMENTS):
            begin = source.span(parent)[0]
            start = source.starts[source.line_of(begin) - 1]
            if not source.text[start:begin].strip():
                return start
    first = source.span(source.module.body[0])[0]  # below a shebang and the encoding
    return source.starts[source.line_of(first) - 1]
