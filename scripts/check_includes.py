"""The include rule of ARCHITECTURE.md, checked, for C++, Python and the page's TypeScript.

One op's journey, left to right, is the order of the rooms under src/, adapters/torch and
python/nanscope. A file includes its own room and the rooms left of it; only the adapters know torch
and Python. No file needs itself, by whatever way around: x.h and x.cc count as one unit, and an
import inside a function as any other.
"""

import ast
import re
import sys
from collections.abc import Iterator
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
# Rooms of adapters/torch. Those of the first line share what an op in flight needs at every step of
# its way; they are cut by subject, and only their files have an order.
ADAPTER_ROOMS = [
    {"interpose", "ops", "device", "watch", "program", "hit", "ranks", "session"},
    {"compiled", "sentinel"},
    {"binding"},
]
# Rooms of python/nanscope; those that share a line may know each other. What lies at the top may
# be known to all; the door (__main__) knows all.
PYTHON_ROOMS = [
    {"telling"},
    {"outside"},
    {"ranks"},
    {"moments", "run", "sentinel", "compiled", "bad_batch"},
    {"api"},
    {"numpy"},
    {"fix"},
    {"integrations"},
]

ADAPTER = ("adapters", "torch")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
PAGE_IMPORT = re.compile(r'^(?:import|export)(?! type\b)[^;]*?from "\./([\w./-]+)"', re.MULTILINE)
TORCH = re.compile(r"^(ATen|c10|torch|caffe2)/")
PYTHON = re.compile(r"^(Python\.h|pybind11/|nanobind/|cpython/|internal/pycore_|frameobject\.h)")
PYTHON_INTERNALS = re.compile(r"^(internal/pycore_|cpython/)|pycore_")

TORCH_SEAM = "adapters/seams/torch_api.h"
KNOW_TORCH = {("adapters", "torch"), ("tests", "device")}  # the latter is a device for torch

Needs = dict[str, dict[str, str]]  # what each unit or module needs, and where it says so


def complaint(path: Path, header: str) -> str | None:
    """Says why the file at this path (from the project's root) may not include this header."""
    top = path.parts[0]
    if PYTHON_INTERNALS.search(header):
        if path.as_posix() != "adapters/seams/python_frame.h":
            return "only adapters/seams/python_frame.h knows CPython's internals"
    if TORCH.match(header):
        if path.parts[:2] not in KNOW_TORCH and path.as_posix() != TORCH_SEAM:
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
    if path.parts[:2] == ADAPTER and header.startswith("adapters/torch/"):
        first = header.split("/")[2]
        if adapter_level(first) > adapter_level(path.parts[2]):
            return f"{first}/ is right of {path.parts[2]}/"
    return None


def adapter_level(room: str) -> int:
    return next((i for i, rooms in enumerate(ADAPTER_ROOMS) if room in rooms), -1)


def check_includes(root: Path) -> list[str]:
    problems = []
    for path, text in cpp_files(root, "src", "adapters", "bench", "tests"):
        if path.parts[0] == "src" and path.parts[1] not in ROOMS:
            problems.append(f"{path}: {path.parts[1]} is not a room of src/")
            continue
        if path.parts[:2] == ADAPTER and adapter_level(path.parts[2]) < 0:
            problems.append(f"{path}: {path.parts[2]} is in no line of ADAPTER_ROOMS")
        for header, line in includes(text):
            reason = complaint(path, header)
            if reason:
                problems.append(f"{path}:{line}: includes {header}: {reason}")
    return problems


def cpp_files(root: Path, *folders: str) -> Iterator[tuple[Path, str]]:
    for folder in folders:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in {".h", ".cc", ".inc"}:
                yield file.relative_to(root), file.read_text()


def includes(text: str) -> Iterator[tuple[str, int]]:
    for match in INCLUDE.finditer(text):
        yield match.group(1), text.count("\n", 0, match.start(1)) + 1


# ---------------------------------------------------------------- cycles of C++
def check_include_cycles(root: Path) -> list[str]:
    needs: Needs = {}
    files = dict(cpp_files(root, "src", "adapters"))
    for path, text in files.items():
        unit = needs.setdefault(unit_of(path), {})
        for header, line in includes(text):
            places = (Path(header), Path("src") / header, path.parent / header)
            found = next((place for place in places if place in files), None)
            if found is not None and unit_of(found) != unit_of(path):
                unit.setdefault(unit_of(found), f"{path}:{line}")
    return [f"include cycle: {cycle}" for cycle in cycles(needs)]


def unit_of(path: Path) -> str:
    return path.with_suffix("").as_posix()


# ---------------------------------------------------------------- Python
def check_imports(root: Path) -> list[str]:
    """No module of python/nanscope imports itself by a way around, or a room right of its own."""
    home = root / "python"
    modules = {name_of(file.relative_to(home)): file for file in sorted(home.rglob("*.py"))}
    needs: Needs = {}
    problems = []
    for name, file in modules.items():
        needs[name] = {}
        for imported, line in imports(name, file, modules):
            place = f"{file.relative_to(root)}:{line}"
            needs[name].setdefault(imported, place)
            if level_of(imported, modules) > level_of(name, modules):
                problems.append(f"{place}: imports {imported}: right of its own room")
    problems += [
        f"{file.relative_to(root)}: its room is in no line of PYTHON_ROOMS"
        for name, file in modules.items()
        if room_of(name, modules) and level_of(name, modules) < 0
    ]
    return problems + [f"import cycle: {cycle}" for cycle in cycles(needs)]


def name_of(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(name: str, file: Path, modules: dict[str, Path]) -> Iterator[tuple[str, int]]:
    """Yields the modules of ours that a module imports anywhere, but for what only types need."""
    tree = ast.parse(file.read_text())
    for node in nodes_that_run(tree):
        found: list[str] = []
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            package = name if file.name == "__init__.py" else name.rpartition(".")[0]
            outer = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join([*(outer if node.level else []), *filter(None, [node.module])])
            full = [f"{base}.{alias.name}" for alias in node.names]
            found = [each if each in modules else base for each in full]
        yield from ((each, node.lineno) for each in found if each in modules and each != name)


def nodes_that_run(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for other in child.orelse:
                yield from nodes_that_run(other)
        else:
            yield from nodes_that_run(child)


def room_of(module: str, modules: dict[str, Path]) -> str:
    """The folder below python/nanscope; empty for what lies at the top."""
    parts = module.split(".")
    is_package = modules[module].name == "__init__.py"
    return parts[1] if len(parts) > 2 or (is_package and len(parts) == 2) else ""


def level_of(module: str, modules: dict[str, Path]) -> int:
    if module.endswith(".__main__"):
        return len(PYTHON_ROOMS)
    room = room_of(module, modules)
    return next((i for i, rooms in enumerate(PYTHON_ROOMS) if room in rooms), -1)


# ---------------------------------------------------------------- TypeScript
def check_page(root: Path) -> list[str]:
    """No part of the page needs itself; what only types need is not there when it runs."""
    files = {unit_of(file.relative_to(root)): file for file in (root / "web/src").glob("*.ts")}
    needs: Needs = {}
    for name, file in sorted(files.items()):
        text = file.read_text()
        unit = needs.setdefault(name, {})
        for match in PAGE_IMPORT.finditer(text):
            imported = f"web/src/{match.group(1)}"
            line = text.count("\n", 0, match.start()) + 1
            if imported in files:
                unit.setdefault(imported, f"{file.relative_to(root)}:{line}")
    return [f"import cycle: {cycle}" for cycle in cycles(needs)]


# ---------------------------------------------------------------- any graph
def cycles(needs: Needs) -> list[str]:
    """Tells one shortest way around for each set of things that need each other."""
    found, seen = [], set()
    for start in needs:
        if start in seen:
            continue
        way = way_around(needs, start)
        if way:
            reached = reachable(needs, start)
            seen |= {one for one in reached if start in reachable(needs, one)}
            steps = [
                f"{one} ({needs[one][other]})" for one, other in zip(way, way[1:], strict=False)
            ]
            found.append(" -> ".join([*steps, start]))
    return found


def way_around(needs: Needs, start: str) -> list[str]:
    """Finds the shortest way from a thing back to itself; empty if there is none."""
    ways = [[start]]
    known: set[str] = set()
    for way in ways:  # grows while it is walked
        for other in needs.get(way[-1], {}):
            if other == start:
                return [*way, start]
            if other not in known:
                known.add(other)
                ways.append([*way, other])
    return []


def reachable(needs: Needs, start: str) -> set[str]:
    found, left = set(), [start]
    while left:
        for other in needs.get(left.pop(), {}):
            if other not in found:
                found.add(other)
                left.append(other)
    return found


def check(root: Path) -> list[str]:
    return [
        *check_includes(root),
        *check_imports(root),
        *check_include_cycles(root),
        *check_page(root),
    ]


if __name__ == "__main__":
    problems = check(Path(__file__).resolve().parent.parent)
    print(*problems, sep="\n", end="\n" if problems else "")
    sys.exit(bool(problems))
