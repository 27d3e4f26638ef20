"""Names of modules in a file, and an import where one is missing."""

from __future__ import annotations

import libcst as cst

from nanscope.fix.operation import imported
from nanscope.fix.source_file import Edit, SourceFile


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


def torch(source: SourceFile) -> tuple[str, list[Edit]]:
    for name, full in imported(source).items():
        if full == "torch":
            return name, []
    return "torch", [add(source, "import torch")]


def add(source: SourceFile, line: str) -> Edit:
    """Behind the last import that opens the file, or behind its docstring."""
    place = 0
    for i, statement in enumerate(source.module.body):
        small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
        is_doc = i == 0 and isinstance(small, cst.Expr)
        if not is_doc and not isinstance(small, cst.Import | cst.ImportFrom):
            break
        line_number = source.line_of(source.span(statement)[1])
        at = line_number if line_number < len(source.starts) else line_number - 1
        place = source.starts[at]
    return Edit(source.path, place, place, line + source.newline)
