"""A source file as text with places: LibCST finds the nodes, edits are cuts of the text itself.

What no edit touches stays as it is, byte for byte: comments, line endings, tabs, encoding.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass

import libcst as cst
from libcst.metadata import MetadataWrapper, ParentNodeProvider, PositionProvider

BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Edit:
    """Characters `begin` to `end` of the file become `text`."""

    path: str
    begin: int
    end: int
    text: str


class SourceFile:
    """One version of a file: the one on disk, or with patches that were found before."""

    is_python = True

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data
        self.has_bom = data.startswith(BOM)
        self.encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        if self.encoding == "utf-8-sig":
            self.encoding = "utf-8"
        own = data[len(BOM) if self.has_bom else 0 :]
        self.text = own.decode(self.encoding)
        if self.text.encode(self.encoding) != own:
            raise UnicodeError(f"{path} would not be the same if it were written again")
        self.starts = [0, *(m.end() for m in re.finditer(r"\r\n|\r|\n", self.text))]
        with_return = self.text.count("\r\n")
        self.newline = "\r\n" if 2 * with_return > self.text.count("\n") else "\n"
        self._wrapper: MetadataWrapper | None = None
        self.edits: list[Edit] = []  # that made this version of the one before

    @classmethod
    def read(cls, path: str) -> SourceFile:
        with open(path, "rb") as file:
            return cls(path, file.read())

    def with_edits(self, edits: Iterable[Edit]) -> SourceFile:
        edits = sorted(edits, key=_place)
        text = apply(self.text, edits)
        made = type(self)(self.path, (BOM if self.has_bom else b"") + text.encode(self.encoding))
        made.edits = edits
        return made

    def place_before(self, offset: int) -> int | None:
        """Where a character stood in the version before; None if an edit put it in."""
        shift = 0
        for edit in self.edits:
            begin = edit.begin + shift
            if offset < begin:
                break
            if offset < begin + len(edit.text):
                return None
            shift += len(edit.text) - (edit.end - edit.begin)
        return offset - shift

    # ---------------------------------------------------------------- nodes and places
    def _metadata(self, provider):
        if self._wrapper is None:
            self._wrapper = MetadataWrapper(cst.parse_module(self.text), unsafe_skip_copy=True)
        return self._wrapper.resolve(provider)

    @property
    def module(self) -> cst.Module:
        self._metadata(PositionProvider)
        return self._wrapper.module

    def nodes(self) -> Iterable[cst.CSTNode]:
        return self._metadata(PositionProvider)

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        return self._metadata(ParentNodeProvider).get(node)

    def parents(self, node: cst.CSTNode) -> Iterable[cst.CSTNode]:
        while (node := self.parent(node)) is not None:
            yield node

    def offset(self, line: int, column: int) -> int:
        return self.starts[line - 1] + column

    def line_of(self, offset: int) -> int:
        import bisect

        return bisect.bisect_right(self.starts, offset)

    def span(self, node: cst.CSTNode) -> tuple[int, int]:
        """Without brackets around it."""
        place = self._metadata(PositionProvider)[node]
        return (
            self.offset(place.start.line, place.start.column),
            self.offset(place.end.line, place.end.column),
        )

    def whole_span(self, node: cst.CSTNode) -> tuple[int, int]:
        """With the brackets that only group it."""
        begin, end = self.span(node)
        for _ in getattr(node, "lpar", ()):
            begin = self.text.rindex("(", 0, begin)
            end = self._closing(end)
        return begin, end

    def _closing(self, offset: int) -> int:
        """Behind the next bracket that closes; comments may stand before it."""
        gap = re.compile(r"(?:[ \t\f\r\n\\,]|#[^\r\n]*)*")
        return self.text.index(")", gap.match(self.text, offset).end()) + 1

    def code(self, node: cst.CSTNode) -> str:
        begin, end = self.whole_span(node)
        return self.text[begin:end]

    def bare(self, node: cst.CSTNode) -> str:
        begin, end = self.span(node)
        return self.text[begin:end]

    def shown(self, node: cst.CSTNode) -> str:
        """For a sentence: in one line, as code."""
        return f"`{' '.join(self.bare(node).split())}`"

    def holds(self, node: cst.CSTNode, inner: cst.CSTNode) -> bool:
        (a, b), (c, d) = self.span(node), self.span(inner)
        return a <= c and d <= b

    def edit(self, node: cst.CSTNode, text: str) -> Edit:
        """In brackets where its neighbours would take a part of it for themselves."""
        begin, end = self.whole_span(node)
        if isinstance(node, cst.BaseExpression) and not self._stands_alone(begin, end, text):
            text = f"({text})"
        return Edit(self.path, begin, end, text)

    def _stands_alone(self, begin: int, end: int, text: str) -> bool:
        """Whether it means the same with brackets around it; also if nobody can tell."""
        before, after = self.text[:begin], self.text[end:]
        bracketed = _meaning(f"{before}({text}){after}")
        return bracketed is None or bracketed == _meaning(f"{before}{text}{after}")


def _meaning(code: str) -> str | None:
    try:
        return ast.dump(ast.parse(code))
    except (SyntaxError, ValueError):
        return None


def apply(text: str, edits: Iterable[Edit]) -> str:
    """Edits do not overlap; of two insertions at one place the first given comes first."""
    parts, done = [], 0
    for edit in sorted(edits, key=_place):
        if edit.begin < done:
            raise ValueError("edits overlap")
        parts += [text[done : edit.begin], edit.text]
        done = edit.end
    return "".join([*parts, text[done:]])


def _place(edit: Edit) -> tuple[int, int]:
    return edit.begin, edit.end
