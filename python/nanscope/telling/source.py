"""From a frame's code and instruction to the expression in the user's source.

The place is what PEP 657 keeps for every instruction: first and last line and column. Columns are
offsets into the line as UTF-8 bytes; ours count characters.

The text shown must be the text that ran, though the file may have been edited during a long run.
`SourceKeeper` knows three ways, none of which hooks into the import of a module:

- The main program hands over what it was compiled from (`remember`).
- A file that was not touched since the process began is what was imported. This is the usual case
  and costs one stat.
- A file that was touched is compiled again, and must give the very code that ran: the same
  instructions on the same lines.

Where nothing fits, the site has its line number, no text, and a remark that says why.
"""

from __future__ import annotations

import os
import sys
import time

from nanscope.telling.stack import display_path, full_path, is_user_code, split_stack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

    from nanscope.telling.expression import Span

__all__ = [
    "Site",
    "SourceKeeper",
    "display_path",
    "is_user_code",
    "keeper",
    "locate",
    "split_stack",
]

MOST_LINES = 12
MOST_AROUND = 4  # lines above, and below
NO_TEXT = "The source of {} is not available: it was run from a string, or only in compiled form."
CHANGED = "{} changed after it was imported: its text is not shown."
KEPT = "{} has changed since: this is the text that ran."
NO_COLUMNS = "Python kept no columns for this code (PYTHONNODEBUGRANGES, or a .pyc made with it)."
NO_FIT = "The columns of this code do not fit the text of {}: it was generated or rewritten."


class Site:
    """A place in source code: the Site of src/records.

    Lines from 1, columns from 0 in characters, end exclusive. `expression` is `code` with the
    object in front where a method's call begins on a line of its own (`.log()`), for names.py.
    """

    file: str
    line: int
    end_line: int
    col: int
    end_col: int
    code: str
    function: str
    source: list[str]
    before: list[str]
    after: list[str]
    remark: str
    expression: str

    def __init__(self, **fields: object) -> None:
        self.__dict__.update(fields)

    def __repr__(self) -> str:
        return f"Site({self.file}:{self.line}:{self.col} {self.code!r} {self.remark!r})"


class SourceKeeper:
    """The texts of source files as they stood when they ran."""

    def __init__(self) -> None:
        self._compiled: dict[str, bytes] = {}  # by file name: what the main program is made of
        self._pieces: dict[int, tuple[CodeType, str]] = {}  # the same for `-c`, by code object
        self._stand_ins: dict[int, tuple[CodeType, CodeType]] = {}
        self._verdicts: dict[tuple[int, int], tuple[CodeType, bool]] = {}

    def remember(self, code: CodeType, data: bytes) -> None:
        """The main program: its code, and the bytes it was compiled from."""
        if not code.co_filename.startswith("<"):
            self.compiled_from(code.co_filename, data)
            return
        try:
            text = _decode(data)
        except SyntaxError:  # a cookie that `-c` does not look at
            text = data.decode("utf-8", "replace")
        # `<string>` is the name of much else: the text belongs to these objects only.
        for piece in _all_code(code):
            self._pieces[id(piece)] = piece, text

    def compiled_from(self, filename: str, data: bytes) -> None:
        """A file whose code was made of these bytes; they are read when it is needed: rarely."""
        self._compiled[filename] = data

    def stands_for(self, made: CodeType, original: CodeType) -> None:
        """Code that was made to stand at a place of another: the text is the other's."""
        self._stand_ins[id(made)] = made, original

    def is_stand_in(self, code: CodeType) -> bool:
        return id(code) in self._stand_ins

    def text(self, code: CodeType) -> tuple[str | None, str]:
        """The text this code was compiled from, or None; and a remark if there is one to make."""
        code = self._stand_ins.get(id(code), (code, code))[1]
        name = code.co_filename
        if id(code) in self._pieces:
            return self._pieces[id(code)][1], ""
        path = full_path(name)
        now = _read(path)
        if name in self._compiled:
            text = _decode(self._compiled[name])
            return text, "" if text == now else KEPT.format(display_path(name))
        if now is None:
            text = _from_loader(name)
            return text, "" if text is not None else NO_TEXT.format(display_path(name))
        touched_ns = _last_change_ns(path)
        if touched_ns < _PROCESS_START_NS or self._is_of(now, code, touched_ns):
            return now, ""
        return None, CHANGED.format(display_path(name))

    def _is_of(self, text: str, code: CodeType, changed_ns: int) -> bool:
        key = id(code), changed_ns
        if key not in self._verdicts:
            self._verdicts[key] = code, _compiles_to(text, code)
        return self._verdicts[key][1]


def locate(code: CodeType, lasti: int, texts: SourceKeeper | None = None) -> Site:
    """The place of the instruction at this offset, in bytes, of this code."""
    from nanscope.telling import (
        expression,  # with ast; a program without a finding does not need it
    )

    line, end_line, first, last = _positions(code, lasti)
    text, remark = (texts or keeper).text(code)
    site = Site(
        file=display_path(code.co_filename),
        line=line,
        end_line=line,
        col=0,
        end_col=0,
        code="",
        function=code.co_qualname.replace(".<locals>", ""),
        source=[],
        before=[],
        after=[],
        remark=remark,
        expression="",
    )
    lines = text.split("\n") if text is not None else []
    if not 0 < line <= len(lines):
        site.remark = remark or NO_TEXT.format(site.file)
    elif first is None or last is None:
        _show(site, lines, expression.whole_line(lines, line), NO_COLUMNS)
    elif span := expression.find(lines, line, end_line, first, last):
        _show(site, lines, span, remark)
        starts = [(a, b) for a, _, b, _ in code.co_positions() if a and b is not None]
        site.expression = expression.with_receiver(lines, span, starts)
    else:
        _show(site, lines, expression.whole_line(lines, line), NO_FIT.format(site.file))
    return site


def _show(site: Site, lines: list[str], span: Span, remark: str) -> None:
    site.line, site.col, site.end_line, site.end_col = span
    site.code = site.expression = span.cut(lines)
    site.source = lines[site.line - 1 : site.end_line][:MOST_LINES]
    site.before = _outside_blanks(lines[max(site.line - 1 - MOST_AROUND, 0) : site.line - 1])
    site.after = _outside_blanks(lines[site.end_line : site.end_line + MOST_AROUND][::-1])[::-1]
    if site.end_line - site.line >= MOST_LINES:
        site.after = []  # its own last lines are not shown
    site.remark = remark


def _outside_blanks(lines: list[str]) -> list[str]:
    """Without the empty lines at the beginning."""
    first = next((i for i, line in enumerate(lines) if line.strip()), len(lines))
    return lines[first:]


def _positions(code: CodeType, lasti: int) -> tuple[int, int, int | None, int | None]:
    """Lines and columns of an instruction; those of the last before it that has a line."""
    best = (code.co_firstlineno, code.co_firstlineno, None, None)
    for i, (line, end_line, first, last) in enumerate(code.co_positions()):
        if i > max(lasti, 0) // 2:
            break
        if line is not None:
            best = line, end_line or line, first, last
    return best


def _compiles_to(text: str, code: CodeType) -> bool:
    """Whether the text still gives this code: the same instructions on the same lines."""
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            whole = compile(text, code.co_filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return any(
        piece.co_qualname == code.co_qualname
        and piece.co_code == code.co_code
        and list(piece.co_lines()) == list(code.co_lines())
        for piece in _all_code(whole)
    )


def _all_code(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, type(code)):
            yield from _all_code(constant)


def _from_loader(name: str) -> str | None:
    """Text that is in no file of its own: in a zip, a notebook's cell, registered in linecache."""
    import linecache

    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) == name:
            lines = linecache.getlines(name, vars(module))
            break
    else:
        lines = linecache.getlines(name) if name in linecache.cache else []
    return "".join(lines) if lines else None


def _read(path: str) -> str | None:
    try:
        with open(path, "rb") as file:
            return _decode(file.read())
    except (OSError, ValueError, SyntaxError, LookupError):
        return None


def _decode(data: bytes) -> str:
    """Source bytes as the compiler reads them: PEP 263, and every line end a newline."""
    import io
    import tokenize

    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return data.decode(encoding, "replace").replace("\r\n", "\n").replace("\r", "\n")


def _last_change_ns(path: str) -> int:
    """When the file was written, or put in place with the times of another (`cp -p`, `mv`)."""
    try:
        status = os.stat(path)
    except OSError:
        return time.time_ns()
    return max(status.st_mtime_ns, status.st_ctime_ns)


def _process_start_ns() -> int:
    """When this process began, at the latest. It may have imported much before it imported us."""
    try:
        with open("/proc/self/stat", "rb") as file:
            ticks = int(file.read().rpartition(b")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return time.time_ns()
    age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    return time.time_ns() - int((age + 1) * 1e9)  # a second earlier: file times are coarse


_PROCESS_START_NS = _process_start_ns()
keeper = SourceKeeper()  # of this process
