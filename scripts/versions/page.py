#!/usr/bin/env python3
"""Writes docs/supported.md from docs/supported.json, which `make test-matrix` writes.

Per torch and Python the table says what is known: run (with its figures), compiled, or not tried.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from parts import PARTS

ROOT = Path(__file__).resolve().parents[2]
JSON_FILE = ROOT / "docs" / "supported.json"
PAGE = ROOT / "docs" / "supported.md"
BEGIN, END = "<!-- written by scripts/versions/page.py -->", "<!-- end -->"


def read_known() -> dict[str, dict]:
    """What was seen: by cell ("2.15-3.12"), and by wheel ("3.12")."""
    known = json.loads(JSON_FILE.read_text()) if JSON_FILE.exists() else {}
    return {"cells": {}, "wheels": {}} | known


def write_known(known: dict[str, dict]) -> None:
    """To the JSON and to the page."""
    JSON_FILE.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
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
    parts = cell["parts"]
    passed = sum(part["passed"] for part in parts.values())
    failed = sum(part["failed"] for part in parts.values())
    how = "run" if set(parts) >= set(PARTS) else f"run, {len(parts)} of {len(PARTS)} parts"
    return f"{how}: {passed:,} checks" + (f", {failed} failed" if failed else "")


def overview(cells: dict[str, dict]) -> list[str]:
    pythons = supported("PYTHON")
    lines = [f"| torch | {' | '.join('CPython ' + version for version in pythons)} |"]
    lines.append("|---" * (len(pythons) + 1) + "|")
    for minor in reversed(supported("TORCH")):
        states = [state_of(f"{minor}-{version}", cells) for version in pythons]
        lines.append(f"| {minor} | {' | '.join(states)} |")
    return lines


def order_of(name: str) -> tuple[int, ...]:
    return tuple(int(word) for word in re.findall(r"\d+", name))


def details(cells: dict[str, dict]) -> list[str]:
    tried = {name: cells[name] for name in sorted(cells, key=order_of) if cells[name].get("parts")}
    if not tried:
        return []
    parts = [name for name in PARTS if any(name in cell["parts"] for cell in tried.values())]
    lines = ["", f"| cell | torch | {' | '.join(parts)} |"]
    lines.append("|---" * (len(parts) + 2) + "|")
    for name, cell in tried.items():
        shown = [figure_of(cell["parts"].get(part)) for part in parts]
        lines.append(f"| {name} | {cell['torch']} | {' | '.join(shown)} |")
    failures = [
        f"- {name}, {part}: {', '.join(f'`{test}`' for test in figures['which'])}"
        for name, cell in tried.items()
        for part, figures in cell["parts"].items()
        if figures.get("which")
    ]
    return [*lines, *(["", "Failed:", "", *failures] if failures else [])]


def figure_of(figures: dict | None) -> str:
    if figures is None:
        return "-"
    return f"{figures['passed']}" + (f", {figures['failed']} failed" if figures["failed"] else "")


def wheel_lines(wheels: dict[str, dict]) -> list[str]:
    if not wheels:
        return []
    lines = ["", "| wheel | adapters for torch | MB | `pip install` | tried with torch |"]
    lines.append("|---" * 5 + "|")
    for version in sorted(wheels, key=order_of):
        seen = wheels[version]
        platform = seen["file"].removesuffix(".whl").split("-")[-1].split(".")[0]
        lines.append(
            f"| CPython {version}, {platform} | {', '.join(seen['adapters'])} | {seen['MB']} "
            f"| {seen['installed in s']} s | {seen.get('tried with torch', 'none')} |"
        )
    return lines


def write_page() -> None:
    known = read_known()
    cells = known["cells"]
    text = PAGE.read_text()
    before, after = text[: text.index(BEGIN)], text[text.index(END) :]
    table = [*overview(cells), *details(cells), *wheel_lines(known["wheels"])]
    PAGE.write_text(before + "\n".join([BEGIN, "", *table, "", ""]) + after)


if __name__ == "__main__":
    write_page()
