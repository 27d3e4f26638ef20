#!/usr/bin/env python3
"""`make test-matrix`: other torches and Pythons, one cell after another; by hand, never in CI.

    CELL=2.15-3.12 make test-matrix      one cell
    QUICK=1 make test-matrix             of each group the first tests only

A cell is an environment of its own with that torch (a CUDA build is 5 GB; it is removed when the
cell is done), nanscope built for it, and the groups of tests below. Its figures go to
docs/supported.json as soon as it is done, so that an interruption loses at most one, and
docs/supported.md is written from that. A cell that has been run with this very source is left out,
unless CELL names it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from page import read_cells, write_cells
from releases import (
    KEPT,
    RELEASES,
    ROOT,
    build_wheel,
    environment,
    pins,
    pip,
    python_of,
    run,
    say,
)

CELLS = ["2.15-3.11", "2.14-3.11", "2.12-3.11", "2.9-3.11", "2.7-3.11", "2.15-3.12", "2.15-3.13"]

# What is run in a cell: the words for pytest, and for QUICK those that choose a few.
GROUPS = {
    "package": (["tests/api", "tests/cli/test_readme.py", "tests/cli/test_run.py"], "watch"),
    "births": (["tests/watch/test_births.py", "tests/watch/test_holes.py"], "births"),
    "proofs": (["tests/watch/test_proved_ops.py", "tests/watch/test_bounded_ops.py"], "overflow"),
    "same bits over op_db, float32": (["tests/watch/test_op_db.py"], "same_bits and float32"),
    "cases": (["tests/watch/test_cases.py"], "test_case"),
    "innocent programs": (["tests/watch/test_cases.py"], "test_innocent"),
    "fix": (["tests/fix/test_verified.py"], ""),
}
ALWAYS = {
    "same bits over op_db, float32": "same_bits and float32",
    "cases": "test_case",
    "innocent programs": "test_innocent",
}


def fingerprint() -> str:
    """The source that a cell was run with."""
    tree = run("git", "rev-parse", "HEAD:python", "HEAD:adapters", "HEAD:src", cwd=ROOT,
               capture_output=True, text=True)  # fmt: skip
    return " ".join(word[:10] for word in tree.stdout.split())


def run_group(python: Path, words: list[str], chosen: str) -> dict:
    """Counts of one group; what failed, by name."""
    command = [python, "-m", "pytest", "-q", "-n", os.environ.get("JOBS", "1"), *words]
    command += ["-m", "not release", "-p", "no:cacheprovider", "--tb=no", "-rfE"]
    if chosen:
        command += ["-k", chosen]
    began = time.monotonic()
    done = subprocess.run(["nice", *map(str, command)], cwd=ROOT, capture_output=True, text=True)
    counts = {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|error)",
              done.stdout.splitlines()[-1] if done.stdout else "")}  # fmt: skip
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.M)
    return {
        "passed": counts.get("passed", 0),
        "failed": counts.get("failed", 0) + counts.get("error", 0),
        "which": failed[:20],
        "seconds": round(time.monotonic() - began),
        **({} if counts else {"trouble": (done.stderr or done.stdout)[-400:]}),
    }


def run_cell(cell: str) -> dict:
    minor, version = cell.split("-")
    interpreter = python_of(version)
    if interpreter is None:
        return {"state": "not tried", "why": f"no Python {version} on that machine"}
    folder = KEPT / f"cell-{cell}"
    say(f"{cell}: torch {RELEASES[minor]} on Python {version}")
    needed = [*pins("build"), *pins("dev")]
    python = environment(folder, interpreter, f"torch=={RELEASES[minor]}", *needed)
    where = "import torch; print(torch.__path__[0], torch.__version__)"
    asked = run(python, "-c", where, capture_output=True, text=True)
    torch, exact = asked.stdout.split()
    began = time.monotonic()
    wheel = build_wheel(python, [Path(torch)], KEPT / f"build-{cell}", KEPT / f"wheel-{cell}")
    pip(python, "install", "--force-reinstall", "--no-deps", "--no-index", wheel)
    compiled = round(time.monotonic() - began)
    tested = run(folder / "bin" / "nanscope", "doctor", "--self-test", capture_output=True,
                 text=True, cwd=folder)  # fmt: skip
    groups = {}
    for name, (words, few) in GROUPS.items():
        chosen = few if os.environ.get("QUICK") else ALWAYS.get(name, "")
        groups[name] = run_group(python, words, chosen)
        say(f"{cell}: {name}: {groups[name]}")
    return {
        "state": "run",
        "torch": exact,
        "python": version,
        "quick": bool(os.environ.get("QUICK")),
        "compiled in s": compiled,
        "self-test": tested.stdout.strip().splitlines()[-1],
        "groups": groups,
    }


def main() -> None:
    chosen = os.environ.get("CELL")
    source = fingerprint()
    for cell in [chosen] if chosen else CELLS:
        known = read_cells().get(cell, {})
        if not chosen and known.get("source") == source and known.get("state") == "run":
            say(f"{cell}: run already with this source")
            continue
        try:
            result = run_cell(cell)
        finally:
            if not os.environ.get("KEEP"):
                for name in ("cell", "wheel", "build"):
                    shutil.rmtree(KEPT / f"{name}-{cell}", ignore_errors=True)
        cells = read_cells() | {cell: result | {"source": source}}
        write_cells(cells)


if __name__ == "__main__":
    main()
