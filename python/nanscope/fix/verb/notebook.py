"""A notebook as a program: its code cells one below the other, and back into cells when patched.

The program has the notebook's own name, so that imports beside it are found, and a line above each
cell by which the cells are told apart again. Magics are no Python: a line of them becomes a
comment, unless it holds a statement (`%time`, `%nanscope`); a cell of another language is left out.
"""

from __future__ import annotations

import json
import re

from nanscope import _core
from nanscope.fix.verb.diff import unified

MARK = "# nanscope: cell {}"
MARKED = re.compile(r"^# nanscope: cell (\d+)\n", re.MULTILINE)
MAGIC = re.compile(r"^(\s*)(?:([\w, ]+)=\s*)?([%!].*)$")
AROUND_PYTHON = ("nanscope", "time", "timeit", "capture", "prun")
SHOWS = "display = lambda *values, **_: print(*values)"


class BadNotebook(Exception):
    """A sentence: why it cannot be run."""


class Notebook:
    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data
        try:
            self.content = json.loads(data)
            cells = self.content["cells"]
            code = [i for i, cell in enumerate(cells) if cell["cell_type"] == "code"]
            self.sources = {i: "".join(cells[i]["source"]) for i in code}
        except (ValueError, KeyError, TypeError):
            raise BadNotebook(f"{path} is no notebook of format 4.") from None
        if not self.sources:
            raise BadNotebook(f"{path} has no code.")
        self.lines: dict[str, str] = {}  # as in the program: as in the cell
        self.script = "".join(self._part(i) for i in self.sources)

    @classmethod
    def read(cls, path: str) -> Notebook:
        try:
            with open(path, "rb") as file:
                return cls(path, file.read())
        except OSError as error:
            raise BadNotebook(f"{path} cannot be read: {error.strerror}.") from None

    # -------------------------------------------------------------------- cells to a program
    def _part(self, number: int) -> str:
        first = number == next(iter(self.sources))
        head = f"{MARK.format(number)}\n{SHOWS if first else ''}\n"
        return f"{head}{self._as_python(self.sources[number])}\n"

    def _as_python(self, source: str) -> str:
        lines = source.split("\n")
        if lines[0].startswith("%%"):
            name = lines[0][2:].split(maxsplit=1)[0] if lines[0][2:].strip() else ""
            count = 1 if name in AROUND_PYTHON else len(lines)
            return "\n".join([*map(self._comment, lines[:count]), *map(self._line, lines[count:])])
        return "\n".join(map(self._line, lines))

    def _line(self, line: str) -> str:
        found = MAGIC.match(line)
        if found is None and not re.match(r"^\s*(\?\S+|[\w.]+\?{1,2})\s*$", line):
            return line
        space, name, magic = found.groups() if found else ("", None, line.strip())
        statement = statement_in(magic)
        if name:
            text = f"{space}{name.strip()} = {statement or 'None'}  # {magic}"
        else:
            text = f"{space}{statement or 'pass'}  # {magic}"
        return self._kept(text, line)

    def _comment(self, line: str) -> str:
        return self._kept(f"# {line}", line)

    def _kept(self, text: str, line: str) -> str:
        self.lines[text] = line
        return text

    # -------------------------------------------------------------------- and back
    def cells_of(self, script: str) -> dict[int, str]:
        """The cells of a patched program, as they are written in a notebook."""
        before, *parts = MARKED.split(script)
        numbers = list(map(int, parts[::2]))
        if numbers != list(self.sources):
            raise BadNotebook(f"{self.path}: the patch does not keep to the cells.")
        cells = {}
        for number, body in zip(numbers, parts[1::2], strict=True):
            # Lines that a patch has put above the first one (imports) belong to the first cell.
            head, _, rest = body.partition("\n")
            above = [] if head in ("", SHOWS) else [head]
            lines = [*above, *rest.removesuffix("\n").split("\n")]
            if number == numbers[0] and before.strip():
                lines = [*before.rstrip("\n").split("\n"), *lines]
            cells[number] = "\n".join(self.lines.get(x, x) for x in lines if x != SHOWS)
        return cells

    def changed(self, script: str) -> dict[int, str]:
        cells = self.cells_of(script)
        return {number: text for number, text in cells.items() if text != self.sources[number]}

    def diff(self, script: str, name: str) -> str:
        return "".join(
            unified(f"{name} (cell {number + 1})", self.sources[number] + "\n", text + "\n")
            for number, text in self.changed(script).items()
        )

    def patched(self, script: str) -> bytes:
        """The notebook with the patched cells; all else stays, the outputs too."""
        content = json.loads(self.data)
        for number, text in self.changed(script).items():
            cell = content["cells"][number]
            in_lines = isinstance(cell["source"], list)
            cell["source"] = text.splitlines(keepends=True) if in_lines else text
        return self._written(content).encode()

    def _written(self, content: dict) -> str:
        """As it was written before: by Jupyter, or by the tool whose spaces these are."""
        own = self.data.decode()
        end = own[len(own.rstrip()) :]
        for indent in (1, 2, 4, None):
            for plain in (False, True):
                if json.dumps(self.content, indent=indent, ensure_ascii=plain) + end == own:
                    return json.dumps(content, indent=indent, ensure_ascii=plain) + end
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"

    def place(self, line: int) -> str | None:
        """What a line of the program is in the notebook."""
        above = self.script.split("\n")[:line]
        marks = [(i, m) for i, x in enumerate(above) if (m := MARKED.match(x + "\n"))]
        if not marks:
            return None
        at, mark = marks[-1]
        return f"line {line - at - 2} of cell {int(mark[1]) + 1}"


def statement_in(magic: str) -> str | None:
    """The Python behind a magic that runs it."""
    name, _, rest = magic[1:].partition(" ")
    if not magic.startswith("%") or name not in ("time", "nanscope"):
        return None
    words: list[str] = []
    rest = rest.strip()
    while rest:
        if not rest.startswith("-"):
            line = ["nanscope", "run", *words, "-c", "cell"]
            fits = name == "time" or _core.command_line(line, _core.Terminal()).run is not None
            if fits:
                return rest
        word, _, rest = rest.partition(" ")
        words.append(word)
        rest = rest.lstrip()
    return None
