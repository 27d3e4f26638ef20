"""What is meant to be non-finite: said in the program, on the command line or in pyproject.toml.

Four ways, and one register for all of them: `with nanscope.allow("why"):`, a comment
`# nanscope: allow` on the line, `--allow FILE[:LINE]`, and `allow` in `[tool.nanscope]`. A finding
whose origin is allowed is a note. What was never needed is told at the end.
"""

from __future__ import annotations

import ast
import io
import os
import re
import sys
import tokenize
from functools import lru_cache

from nanscope.telling import stack
from nanscope.telling.stack import display_path, full_path, is_user_code

_COMMENT = re.compile(r"#\s*nanscope:\s*allow\b[\s:(-]*(.*?)\)?\s*$")
_MOST = 200  # that are told


class Allowance:
    def __init__(self, what: str, why: str = "") -> None:
        self.what = what
        self.why = why
        self.count = 0

    def use(self) -> str:
        self.count += 1
        return self.why or self.what


class Allowances:
    def __init__(self) -> None:
        self.given: dict[tuple[str, int], Allowance] = {}  # file, and line or 0
        self.blocks: dict[tuple[str, int], Allowance] = {}
        self.numbers: list[Allowance] = []  # of blocks, from 1
        self.comments: dict[tuple[str, int], Allowance] = {}
        self.main_file: str | None = None

    def give(self, places: list[str], main_file: str | None = None) -> None:
        """FILE or FILE:LINE, as the user typed them; of a program whose script this is."""
        self.main_file = main_file
        for text in places:
            name, _, line = text.rpartition(":")
            if not name or not line.isdigit():
                name, line = text, "0"
            key = self._place(name), int(line)
            self.given.setdefault(key, Allowance(f"--allow {text}"))

    @staticmethod
    def _place(name: str) -> str:
        """A file, or the name of what is in none: `In[4]`, a notebook's cell."""
        path = os.path.realpath(full_path(name))
        return name if stack.name_givers and not os.path.exists(path) else path

    def take_back(self) -> None:
        """What was given, and is no longer asked for."""
        self.given.clear()

    def enter(self, filename: str, line: int, why: str) -> int:
        """A block of `allow` is entered there; its number."""
        key = os.path.realpath(full_path(filename)), line
        block = self.blocks.get(key)
        if block is None:
            what = f"nanscope.allow at {display_path(filename)}:{line}"
            block = self.blocks[key] = Allowance(what, why)
            self.numbers.append(block)
        return self.numbers.index(block) + 1

    def reason_for(self, filename: str, line: int, end_line: int, block: int) -> str:
        """Why what is made there may be non-finite; "": it may not."""
        found = self._found(filename, line, max(line, end_line), block)
        return "" if found is None else found.use()

    def _found(self, filename: str, line: int, end_line: int, block: int) -> Allowance | None:
        if 0 < block <= len(self.numbers):
            return self.numbers[block - 1]
        if not filename or line <= 0:
            return None
        path = os.path.realpath(full_path(filename))
        for number in range(line, end_line + 1):
            if (why := _comments_in(path).get(number)) is not None:
                what = f"`# nanscope: allow` at {display_path(filename)}:{number}"
                return self.comments.setdefault((path, number), Allowance(what, why))
        for first, last in _blocks_in(path):
            if first <= line <= last and (path, first) in self.blocks:
                return self.blocks[path, first]
        for place in (path, display_path(filename)):
            if (place, line) in self.given or (place, 0) in self.given:
                return self.given.get((place, line)) or self.given[place, 0]
        return None

    def counted(self) -> list[tuple[str, str, int]]:
        """All of them: what, why, and how many findings it allowed."""
        for path in self._files_of_the_program():
            for line in _comments_in(path):
                what = f"`# nanscope: allow` at {display_path(path)}:{line}"
                self.comments.setdefault((path, line), Allowance(what, _comments_in(path)[line]))
        every = [*self.given.values(), *self.blocks.values(), *self.comments.values()]
        return [(one.what, one.why, one.count) for one in every[:_MOST]]

    def _files_of_the_program(self) -> list[str]:
        """Its script, too, which is no module any more when it has ended."""
        names = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
        names = [name for name in names if isinstance(name, str) and name.endswith(".py")]
        names = [name for name in names if is_user_code(name, self.main_file)]
        if self.main_file is not None:
            names.append(self.main_file)
        return list(dict.fromkeys(os.path.realpath(full_path(name)) for name in names))

    def forget_counts(self) -> None:
        for table in (self.given, self.blocks, self.comments):
            for one in table.values():
                one.count = 0


allowances = Allowances()  # of the process


def _text_of(path: str) -> str:
    try:
        with tokenize.open(path) as file:
            return file.read()
    except (OSError, SyntaxError, UnicodeDecodeError):
        return ""


@lru_cache(512)
def _comments_in(path: str) -> dict[int, str]:
    """The lines with such a comment, and the reason they give."""
    text, found = _text_of(path), {}
    if "nanscope:" not in text:
        return found
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT and (match := _COMMENT.match(token.string)):
                found[token.start[0]] = match[1]
    except (tokenize.TokenError, SyntaxError):
        pass
    return found


@lru_cache(512)
def _blocks_in(path: str) -> list[tuple[int, int]]:
    """First and last lines of `with nanscope.allow(...)`, the innermost first."""
    text, found = _text_of(path), []
    if "allow" not in text:
        return found
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return found
    for node in ast.walk(tree):
        if not isinstance(node, (ast.With, ast.AsyncWith)):
            continue
        calls = [item.context_expr for item in node.items]
        functions = [call.func for call in calls if isinstance(call, ast.Call)]
        if any(getattr(f, "attr", getattr(f, "id", "")) == "allow" for f in functions):
            found.append((node.lineno, node.end_lineno or node.lineno))
    return sorted(found, reverse=True)
