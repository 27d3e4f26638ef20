"""Programs that try to walk around the watch: tests/unseen, a folder for each way.

The header of a program says what is right; `# here` marks the line to be named. An error is named
at the right line with the right harm; what cannot be looked into makes the verdict `unknown`, and a
healthy program is clean. Those of one folder and mode run one after another in a process.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from watched import ENVIRONMENT

FOLDER = Path(__file__).parent.parent / "unseen"


def header(program: Path) -> dict[str, list[str]]:
    found = re.findall(r"^# (\w+): (.*)$", program.read_text(), re.MULTILINE)
    return {name: re.split(r" \| | ", text) for name, text in found}


def programs(way: str, mode: str) -> list[Path]:
    every = sorted((FOLDER / way).glob("*.py"))
    assert every and all({"expect", "modes"} <= set(header(program)) for program in every)
    return [program for program in every if mode in header(program)["modes"]]


def complaints(program: Path, got: dict) -> list[str]:
    """What is wrong with the answer."""
    right = header(program)
    wrong = [f"raised {got['raised']}"] if got["raised"] else []
    if got["verdict"] not in right["expect"]:
        wrong.append(f"the verdict is {got['verdict']}")
    if got["verdict"] == "error":
        error = got["errors"][0]
        wrong += [
            f"{name} is {error[name]}"
            for name in ("harm", "kind", "phase")
            if name in right and error[name] not in right[name]
        ]
        lines = program.read_text().splitlines()
        marked = {i for i, line in enumerate(lines, 1) if line.endswith("# here")}
        # Without a snapshot (ranks that are alive) the sentinel names no operation, and says so.
        if marked and marked.isdisjoint(error["lines"]) and error["kind"] != "unwatched":
            wrong.append(f"it names {error['lines']}")
    return wrong


@pytest.mark.parametrize("mode", ["exact", pytest.param("sentinel", marks=pytest.mark.release)])
@pytest.mark.parametrize("way", ["subclasses", "writes"])
def test_nothing_walks_around_the_watch(way: str, mode: str) -> None:
    chosen = programs(way, mode)
    done = subprocess.run(
        [sys.executable, FOLDER / "run_programs.py", mode, *chosen],
        cwd=FOLDER,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=900,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(chosen), done.stderr[-2000:]
    wrong = {
        program.stem: complaints(program, got) for program, got in zip(chosen, answers, strict=True)
    }
    assert {name: why for name, why in wrong.items() if why} == {}
