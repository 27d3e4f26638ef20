"""Names of modules in a file, and an import where one is missing."""

from __future__ import annotations

import re
from dataclasses import replace

import libcst as cst

from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.operation import imported
from nanscope.fix.patch.source_file import Edit, SourceFile

TORCH = re.compile(r"(?<![\w.])(?<!import )torch\.")


def functional(source: SourceFile) -> tuple[str, list[Edit]]:
    """How this file calls torch.nn.functional, and an edit if it needs an import for that."""
    known = imported(source)
    for name, full in known.items():
        if full == "torch.nn.functional":
            return name, []
    for name, full in known.items():
        if full == "torch.nn":
            return f"{name}.functional", []
    if known.get("torch") == "torch":
        return "torch.nn.functional", []
    return "F", [add(source, "import torch.nn.functional as F")]


def with_torch(files: dict[str, SourceFile], candidate: Candidate) -> Candidate:
    """`torch.` of new text as each file calls it, and an import where it has no name for it."""
    edits: list[Edit] = []
    for edit in candidate.edits:
        if not TORCH.search(edit.text):
            edits.append(edit)
            continue
        name, more = torch(files[edit.path])
        if name == "torch" and not more:
            edits.append(edit)
            continue
        edits += [e for e in more if e not in edits]
        edits.append(replace(edit, text=TORCH.sub(name + ".", edit.text)))
    compare = candidate.compare
    if compare is not None:
        name, _ = torch(files[compare.path])
        compare = replace(compare, patched=TORCH.sub(name + ".", compare.patched))
    return replace(candidate, edits=edits, compare=compare)


def torch(source: SourceFile) -> tuple[str, list[Edit]]:
    for name, full in imported(source).items():
        if full == "torch":
            return name, []
    return "torch", [add(source, "import torch")]


def add(source: SourceFile, line: str) -> Edit:
    """Behind the last import that opens the file, behind its docstring or its first comments."""
    body = source.module.body
    place = source.starts[source.line_of(source.span(body[0])[0]) - 1] if body else 0
    for i, statement in enumerate(body):
        small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
        is_doc = i == 0 and isinstance(small, cst.Expr)
        if not is_doc and not isinstance(small, cst.Import | cst.ImportFrom):
            break
        line_number = source.line_of(source.span(statement)[1])
        at = line_number if line_number < len(source.starts) else line_number - 1
        place = source.starts[at]
    return Edit(source.path, place, place, line + source.newline)
