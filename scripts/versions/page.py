#!/usr/bin/env python3
"""Writes docs/supported.md from docs/supported.json, which `make test-matrix` writes.

Per torch and Python the table says what is known: run (with its figures), compiled, or not tried.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
JSON_FILE = ROOT / "docs" / "supported.json"
PAGE = ROOT / "docs" / "supported.md"
BEGIN, END = "<!-- written by scripts/versions/page.py -->", "<!-- end -->"


def read_cells() -> dict[str, dict]:
    return json.loads(JSON_FILE.read_text()) if JSON_FILE.exists() else {}


def write_cells(cells: dict[str, dict]) -> None:
    """To the JSON and to the page."""
    JSON_FILE.write_text(json.dumps(cells, indent=1, sort_keys=True) + "\n")
    write_page()


def supported(name: str) -> list[str]:
    text = (ROOT / "python" / "nanscope" / "support.py").read_text()
    return re.findall(r'"([\d.]+)"', re.search(rf"^{name} = (.*)$", text, re.M)[1])


def state_of(name: str, cells: dict[str, dict]) -> str:
    if name == "2.13-3.11":
        return "run: `make test`"
    cell = cells.get(name)
    if cell is None:
        return "not tried"
    if cell["state"] != "run":
        return cell["state"]
    groups = cell["groups"].values()
    passed = sum(group["passed"] for group in groups)
    failed = sum(group["failed"] for group in groups)
    return f"run: {passed:,} tests" + (f", {failed} failed" if failed else "")


def overview(cells: dict[str, dict]) -> list[str]:
    pythons = supported("PYTHON")
    lines = [f"| torch | {' | '.join('CPython ' + version for version in pythons)} |"]
    lines.append("|---" * (len(pythons) + 1) + "|")
    for minor in reversed(supported("TORCH")):
        states = [state_of(f"{minor}-{version}", cells) for version in pythons]
        lines.append(f"| {minor} | {' | '.join(states)} |")
    return lines


def details(cells: dict[str, dict]) -> list[str]:
    tried = {name: cell for name, cell in cells.items() if cell.get("groups")}
    if not tried:
        return []
    groups = list(next(iter(tried.values()))["groups"])
    lines = ["", f"| cell | torch | self-test | {' | '.join(groups)} |"]
    lines.append("|---" * (len(groups) + 3) + "|")
    for name, cell in tried.items():
        figures = [cell["groups"].get(group) for group in groups]
        shown = [figure_of(figure) for figure in figures]
        found = re.search(r"\d+ of \d+", cell.get("self-test", ""))
        test = found[0] if found else "-"
        lines.append(f"| {name} | {cell['torch']} | {test} | {' | '.join(shown)} |")
    failures = [
        f"- {name}, {group}: {', '.join(f'`{test}`' for test in figure['which'])}"
        for name, cell in tried.items()
        for group, figure in cell["groups"].items()
        if figure.get("which")
    ]
    return [*lines, *(["", "Failed:", "", *failures] if failures else [])]


def figure_of(figure: dict | None) -> str:
    if figure is None:
        return "-"
    failed = f", {figure['failed']} failed" if figure["failed"] else ""
    return f"{figure['passed']}{failed}"


def write_page() -> None:
    cells = read_cells()
    text = PAGE.read_text()
    before, after = text[: text.index(BEGIN)], text[text.index(END) :]
    table = "\n".join([BEGIN, "", *overview(cells), *details(cells), "", ""])
    PAGE.write_text(before + table + after)


if __name__ == "__main__":
    write_page()
