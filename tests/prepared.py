"""A table of small programs, run as `nanscope run` would, that pay once for the import of torch.

A table is a text file. `### name` begins a program, whose text is put behind that of `### first`.
A line that ends with `# <- kind op` is the origin of the program's error; a program without such a
line must be clean: no error, and nothing that was not watched. `### name: unknown` must find
nothing and say that not everything was watched. `(exact)` at the end of a name leaves the program
out of mode sentinel.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from watched import ENVIRONMENT, Watched, read_report

RUNNER = Path(__file__).with_name("prepared_runner.py")
MARK = re.compile(r"# <- (\w+)(?: ([\w:]+))?$")


@dataclass
class Program:
    name: str
    text: str

    @property
    def origin(self) -> tuple[int, str, str | None] | None:
        """Line, kind and op."""
        for number, line in enumerate(self.text.splitlines(), 1):
            if mark := MARK.search(line):
                return number, mark[1], mark[2]
        return None

    def complaint(self, seen: Watched) -> str | None:
        """What nanscope said of it that is not so."""
        error, verdict = seen.first("error"), seen.report["verdict"]
        if self.origin is None:
            wanted = "unknown" if self.name.endswith(": unknown") else "clean"
            if error is not None or verdict != wanted or seen.status not in (0, None):
                return f"{verdict}, not {wanted}, status {seen.status}; {shown(error)}"
            return None
        if error is None:
            return f"no error; {verdict}, status {seen.status}: {seen.err[-300:]}"
        line, kind, op = self.origin
        origin = error["origin"]
        at = origin["site"]["line"] if origin["site"] else None
        right = kind in ("any", origin["kind"]) and op in (None, origin["op"])
        right &= kind == "any" or at == line
        return None if right else f"not {kind} {op} at {line}; {shown(error)}"


def shown(error: dict | None) -> str:
    if error is None:
        return "no error"
    origin = error["origin"]
    at = origin["site"]["line"] if origin["site"] else None
    cause = error["cause"]
    text = f"{origin['kind']} {origin['op']} at {at}, harm {error['harm']['kind']}"
    return f"{text}, {cause['id']} ({cause['certainty']}): {cause['sentence']}"


def programs_of(table: Path, mode: str = "exact") -> list[Program]:
    parts = re.split(r"^### (.+)\n", table.read_text(), flags=re.MULTILINE)[1:]
    texts = dict(zip(parts[::2], parts[1::2], strict=True))
    assert len(texts) == len(parts) // 2, f"two programs of {table} have one name"
    first = texts.pop("first", "")
    return [
        Program(name.removesuffix("(exact)").strip(), first + text)
        for name, text in texts.items()
        if mode == "exact" or not name.endswith("(exact)")
    ]


def run_all(programs: list[Program], folder: Path, *options: str) -> list[Watched]:
    """Each in a fork of one process."""
    for number, program in enumerate(programs):
        place = folder / f"{number:03}"
        place.mkdir()
        (place / "program.py").write_text(program.text)
    command = [sys.executable, RUNNER, folder, *options]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr
    return [read(folder / f"{number:03}", program) for number, program in enumerate(programs)]


def read(place: Path, program: Program) -> Watched:
    err = (place / "err").read_text()
    report = place / "finding.json"
    assert report.exists(), f"{program.name}: no JSON; {err}"
    status = int((place / "status").read_text())
    return Watched(status, (place / "out").read_text(), err, read_report(report.read_text()))


def complaints(table: Path, folder: Path, mode: str) -> list[str]:
    """Of all programs of the table; what is right is not told."""
    programs = programs_of(table, mode)
    seen = run_all(programs, folder, "--mode", mode)
    told = [
        (program.name, program.complaint(each))
        for program, each in zip(programs, seen, strict=True)
    ]
    return [f"{name}: {what}" for name, what in told if what is not None]
