#!/usr/bin/env python3
"""`make test-matrix`: other torches and Pythons, one cell after another; by hand, never in CI.

    CELL=2.15-3.12 make test-matrix      one cell
    PARTS="births,cases" ...             some of its parts, as parts.py names them
    AGAIN=1 ...                          also what was run with this very source
    KEEP=1 ...                           leaves the environment of the cell

A cell is an environment of its own with that torch (a CUDA build is 5 GB) and nanscope built for
it. It is run part by part, the telling ones first; the figures of a part go to docs/supported.json
as soon as it is done, and docs/supported.md is written from that. So an interruption loses at most
one part: the next call goes on with those that have not been run with this very source. When all
parts of a cell are done, its environment is removed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from page import read_known, write_known
from parts import PARTS
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


def fingerprint() -> str:
    """The source that a cell is run with."""
    folders = ("python", "adapters", "src")
    tree = run("git", "rev-parse", *(f"HEAD:{name}" for name in folders), cwd=ROOT,
               capture_output=True, text=True)  # fmt: skip
    changed = subprocess.run(["git", "diff", "--quiet", "HEAD", "--", *folders], cwd=ROOT)
    words = [word[:10] for word in tree.stdout.split()]
    return " ".join(words + ["and changes"] * (changed.returncode != 0))


def run_part(folder: Path, name: str) -> dict:
    """Counts of one part; what failed, by name."""
    began = time.monotonic()
    figures = run_self_test(folder) if name == "self-test" else run_tests(folder, PARTS[name])
    return figures | {"seconds": round(time.monotonic() - began)}


def run_self_test(folder: Path) -> dict:
    done = subprocess.run([folder / "bin" / "nanscope", "doctor", "--self-test"],
                          capture_output=True, text=True, cwd=folder)  # fmt: skip
    said = re.search(r"(\d+) of (\d+) planted births found", done.stdout)
    if said is None:
        return {"passed": 0, "failed": 1, "trouble": (done.stdout + done.stderr)[-400:]}
    return {"passed": int(said[1]), "failed": int(said[2]) - int(said[1])}


def run_tests(folder: Path, words: list[str]) -> dict:
    command = [
        folder / "bin" / "python",
        "-m",
        "pytest",
        "-q",
        "-n",
        os.environ.get("TEST_JOBS", "0"),
    ]
    command += ["-m", "not release", *words, "-p", "no:cacheprovider", "--tb=short", "-rfE"]
    # The words of a failure are long, and a part that is interrupted has them too.
    with (KEPT / f"{folder.name}.log").open("w+") as log:
        subprocess.run([*map(str, command)], cwd=ROOT, stdout=log, stderr=subprocess.STDOUT)
        log.seek(0)
        text = log.read()
    last = text.splitlines()[-1] if text else ""
    counts = {
        word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|error)", last)
    }
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", text, re.M)
    return {
        "passed": counts.get("passed", 0),
        "failed": counts.get("failed", 0) + counts.get("error", 0),
        **({"which": failed[:20]} if failed else {}),
        **({} if counts else {"failed": 1, "trouble": text[-400:]}),
    }


def prepare(cell: str) -> tuple[Path, str]:
    """The environment of this cell with nanscope in it; the exact version of its torch."""
    minor, version = cell.split("-")
    folder = KEPT / f"cell-{cell}"
    say(f"{cell}: torch {RELEASES[minor]} on Python {version}")
    packages = [f"torch=={RELEASES[minor]}", *pins("build"), *pins("dev")]
    python = environment(folder, python_of(version), *packages)
    with tempfile.TemporaryDirectory(dir=KEPT) as place:
        wheel = build_wheel(version, [minor], Path(place))
        pip(python, "install", "--force-reinstall", "--no-deps", "--no-index", wheel)
    which = "import torch; print(torch.__version__)"
    asked = run(python, "-c", which, capture_output=True, text=True, cwd=folder)
    return folder, asked.stdout.strip()


def run_cell(cell: str, source: str) -> None:
    version = cell.split("-")[1]
    if python_of(version) is None:
        say(f"{cell}: there is no Python {version} here")
        return
    known = read_known()["cells"].get(cell, {}).get("parts", {})
    wanted = [name for name in os.environ.get("PARTS", "").split(",") if name] or list(PARTS)
    if not os.environ.get("AGAIN"):
        wanted = [name for name in wanted if known.get(name, {}).get("source") != source]
    if not wanted:
        say(f"{cell}: run already with this source")
        return
    folder, torch = prepare(cell)
    for name in wanted:
        figures = run_part(folder, name)
        say(f"{cell}: {name}: {figures}")
        everything = read_known()
        tried = everything["cells"].setdefault(cell, {})
        tried |= {"state": "run", "torch": torch, "python": version}
        tried.setdefault("parts", {})[name] = figures | {"source": source}
        write_known(everything)
    if not os.environ.get("KEEP"):
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    chosen = os.environ.get("CELL")
    source = fingerprint()
    for cell in [chosen] if chosen else CELLS:
        run_cell(cell, source)


if __name__ == "__main__":
    main()
