"""The text of one expression in a source file, by the columns that Python keeps for it.

Columns come as offsets into UTF-8 and leave as characters. What they cut out must be Python: if it
does not parse, the text is not the one that was compiled, and nothing is said about it.
"""

from __future__ import annotations

import ast
import keyword
import operator
import re
from typing import NamedTuple

# What operators do with numbers, arrays and tensors alike.
ARITHMETIC = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
}
SIGNS = {ast.USub: operator.neg, ast.UAdd: operator.pos}
NEAR = 60  # lines above a method's call in which the object it is called on is looked for


class Span(NamedTuple):
    """Lines from 1, columns from 0 in characters, end exclusive."""

    line: int
    col: int
    end_line: int
    end_col: int

    def cut(self, lines: list[str]) -> str:
        if self.line == self.end_line:
            return lines[self.line - 1][self.col : self.end_col]
        inner = lines[self.line : self.end_line - 1]
        first, last = lines[self.line - 1][self.col :], lines[self.end_line - 1][: self.end_col]
        return "\n".join([first, *inner, last])


def find(lines: list[str], line: int, end_line: int, first: int, last: int) -> Span | None:
    """The span of what stands there; of a statement with a body, of its head alone."""
    if end_line > len(lines):
        return None
    begin, end = _characters(lines[line - 1], first), _characters(lines[end_line - 1], last)
    if begin is None or end is None:
        return None
    span = Span(line, begin, end_line, end)
    text = span.cut(lines)
    if not text.strip():
        return None
    if parse_expression(text) is not None:
        return span
    return _head(lines, span)


def with_receiver(lines: list[str], span: Span, starts: list[tuple[int, int]]) -> str:
    """The expression with the object that a method was called on.

    For a call whose method name stands on a line of its own Python's columns begin at that name.
    The object begins at one of `starts` (lines, and columns in bytes): where the instructions do.
    """
    text = span.cut(lines)
    if not _before(lines, span.line, span.col).endswith("."):
        return text
    near = {(a, b) for a, b in starts if span.line - NEAR <= a and (a, b) < (span.line, span.col)}
    for line, byte in sorted(near, reverse=True):
        col = _characters(lines[line - 1], byte)
        while col is not None:
            before = _before(lines, line, col)
            whole = Span(line, col, span.end_line, span.end_col).cut(lines)
            if not before.endswith(".") and isinstance(parse_expression(whole), ast.Call):
                return whole
            col = _bracket(lines[line - 1][:col])
    return text


def _bracket(before: str) -> int | None:
    """The column of a bracket that ends this text, if it only groups: not that of a call."""
    before = before.rstrip()
    if not before.endswith("("):
        return None
    word = re.search(r"[\w)\]}'\"]*$", before[:-1].rstrip()).group()
    return len(before) - 1 if not word or keyword.iskeyword(word) else None


def whole_line(lines: list[str], line: int) -> Span:
    text = lines[line - 1].rstrip()
    return Span(line, len(text) - len(text.lstrip()), line, len(text))


def parse_expression(text: str) -> ast.expr | None:
    try:
        node = ast.parse(f"({text}\n)", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    # `a) + (b` parses, but with a bracket of ours as its own.
    begins_before = (node.lineno, node.col_offset) == (1, 0)
    return None if begins_before and not isinstance(node, ast.Tuple | ast.GeneratorExp) else node


def parse_statement(text: str) -> ast.stmt | None:
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return body[0] if len(body) == 1 else None


def _head(lines: list[str], span: Span) -> Span | None:
    """The part of a statement that an instruction of its own belongs to."""
    indent = lines[span.line - 1][: span.col]
    above = 0
    text = span.cut(lines)
    if text.startswith("elif "):
        text = "if   " + text[5:]
    if indent and not indent.strip():
        # Its later lines are indented too: give it the block they belong to.
        text, above = f"if 1:\n{indent}{text}", 1
    statement = parse_statement(text)
    if above and isinstance(statement, ast.If):
        statement = statement.body[0] if len(statement.body) == 1 else None
    if statement is None:
        return None
    match statement:
        case ast.For() | ast.AsyncFor():
            begin = end = statement.iter
        case ast.If() | ast.While() | ast.Assert():
            begin = end = statement.test
        case ast.With() | ast.AsyncWith():
            begin, end = statement.items[0].context_expr, statement.items[-1].context_expr
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return span._replace(end_line=span.line, end_col=len(lines[span.line - 1].rstrip()))
        case _:
            return span
    down = span.line - 1 - above
    return Span(
        begin.lineno + down,
        _characters(lines[begin.lineno + down - 1], begin.col_offset),
        end.end_lineno + down,
        _characters(lines[end.end_lineno + down - 1], end.end_col_offset),
    )


def _before(lines: list[str], line: int, col: int) -> str:
    """What stands before a place, without the white space that ends it."""
    text = lines[line - 1][:col].rstrip(" \t\\")
    return text or (lines[line - 2].rstrip(" \t\\") if line > 1 else "")


def _characters(line: str, offset: int) -> int | None:
    """An offset in UTF-8 bytes as one in characters; None if the line has no such place."""
    if line.isascii():
        return offset if offset <= len(line) else None
    encoded = line.encode("utf-8", "surrogatepass")
    try:
        return len(encoded[:offset].decode()) if offset <= len(encoded) else None
    except UnicodeDecodeError:
        return None
