"""The include rule of ARCHITECTURE.md, checked.

One op's journey, left to right, is the order of the rooms under src/. A file includes its own
room and the rooms left of it; only the adapters know torch and Python.
"""

import re
import sys
from pathlib import Path

ROOMS = [
    "base",
    "scan",
    "watch",
    "records",
    "origin",
    "capture",
    "diagnose",
    "report",
    "checkpoint",
    "cli",
]

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
TORCH = re.compile(r"^(ATen|c10|torch|caffe2)/")
PYTHON = re.compile(r"^(Python\.h|pybind11/|nanobind/|cpython/|internal/pycore_|frameobject\.h)")
PYTHON_INTERNALS = re.compile(r"^(internal/pycore_|cpython/)|pycore_")


def complaint(path: Path, header: str) -> str | None:
    """Why the file at this path (from the project's root) may not include this header, or None."""
    top = path.parts[0]
    if PYTHON_INTERNALS.search(header):
        if path.as_posix() != "adapters/torch/program/frames.cc":
            return "only adapters/torch/program/frames.cc knows CPython's internals"
    if TORCH.match(header):
        if path.parts[:2] != ("adapters", "torch"):
            return "only adapters/torch knows torch"
    if PYTHON.match(header):
        if top != "adapters":
            return "only the adapters know Python"
    if top == "src":
        room = path.parts[1]
        first = header.split("/")[0]
        if first == "adapters":
            return "the core knows no adapter"
        if first in ROOMS and "/" in header and ROOMS.index(first) > ROOMS.index(room):
            return f"{first}/ is right of {room}/"
    return None


def check(root: Path) -> list[str]:
    problems = []
    for folder in ("src", "adapters", "bench", "tests"):
        for file in sorted((root / folder).rglob("*")):
            if file.suffix not in {".h", ".cc", ".inc"}:
                continue
            path = file.relative_to(root)
            if path.parts[0] == "src" and path.parts[1] not in ROOMS:
                problems.append(f"{path}: {path.parts[1]} is not a room of src/")
                continue
            text = file.read_text()
            for match in INCLUDE.finditer(text):
                reason = complaint(path, match.group(1))
                if reason:
                    line = text.count("\n", 0, match.start(1)) + 1
                    problems.append(f"{path}:{line}: includes {match.group(1)}: {reason}")
    return problems


if __name__ == "__main__":
    found = check(Path(__file__).resolve().parent.parent)
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(bool(found))
