"""Compiled programs against the finding in their headers, as eager ones are in tests/watch."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from watched import ENVIRONMENT, python_without_blank, run_plain, watch

HERE = Path(__file__).resolve().parent
CASES = sorted((HERE / "cases").glob("*.py"))
INNOCENT = sorted((HERE / "innocent").glob("*.py"))
OF_INDUCTOR = [
    HERE / "cases" / f"{name}.py"
    for name in ("dropout_bits", "sqrt_gradient_in_a_model", "only_when_compiled")
]


def expectations(program: Path) -> dict[str, list[str]]:
    """The header: `# word: this | or that`."""
    lines = program.read_text().splitlines()
    found = filter(None, (re.match(r"# (\w+): (.*)", line) for line in lines))
    return {match[1]: [word.strip() for word in match[2].split("|")] for match in found}


def fits(program: Path, backend: str) -> bool:
    return expectations(program).get("backend", [backend]) == [backend]


def answers(backend: str, programs: list[Path], folder: Path) -> dict[Path, dict]:
    """One process for all: the import of the compiler is what takes longest."""
    command = [python_without_blank(folder), HERE / "run_programs.py", backend, *programs]
    environment = {**ENVIRONMENT, "TORCHINDUCTOR_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=1800
    )
    lines = [line[1:] for line in done.stdout.splitlines() if line.startswith("\x00")]
    assert len(lines) == len(programs), done.stdout + done.stderr
    return dict(zip(programs, map(json.loads, lines), strict=True))


def complaint(program: Path, answer: dict) -> str | None:
    """What was said of it that is not so."""
    wanted = expectations(program)
    error = next((f for f in answer["findings"] if f["level"] == "error"), None)
    if answer["failed"]:
        return answer["failed"]
    if wanted["expect"] == ["silence"]:
        warned = any(f["level"] == "warning" for f in answer["findings"])
        silent = error is None and not warned and answer["verdict"] == "clean"
        fates = [finding["fate"] for finding in answer["findings"]]
        told = all(fate in fates for fate in wanted.get("fate", []))
        return None if silent and told else answer["report"]
    if error is None:
        return "no error: " + answer["report"]
    origin, cause = error["origin"], error["cause"]
    site = origin["site"]
    right = (
        origin["op"] in wanted["op"]
        and origin["phase"] in wanted["phase"]
        and Path(site["file"]).name == program.name
        and str(site["line"]) in wanted["line"]
        and cause["id"] in wanted["cause"]
        and site["code"].split("\n")[0] in program.read_text().split("\n")[site["line"] - 1]
        # Where nobody looked in, nothing is certain.
        and (cause["id"] != "unwatched_kernel" or cause["certainty"] == "likely")
        and is_only_compiled_as(wanted, error)
    )
    return None if right else answer["report"]


def is_only_compiled_as(wanted: dict[str, list[str]], error: dict) -> bool:
    """By which kernel, and under which setting it is finite: only then it is certain."""
    known = error.get("only_compiled")
    if "setting" not in wanted:
        return known is None
    certain = error["cause"]["certainty"] == "certain"
    return certain and known["setting"] in wanted["setting"] and bool(known["kernel"])


def check(backend: str, programs: list[Path], folder: Path) -> None:
    programs = [program for program in programs if fits(program, backend)]
    found = answers(backend, programs, folder)
    wrong = {program.name: complaint(program, found[program]) for program in programs}
    wrong = {name: text for name, text in wrong.items() if text is not None}
    assert not wrong, "\n\n".join(f"--- {name}\n{text}" for name, text in wrong.items())


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_without_a_code_generator(backend: str, tmp_path: Path) -> None:
    """`aot_eager` is a compiled region as inductor's is, without the minutes of g++."""
    some = [HERE / "cases" / "log_in_a_loss.py", HERE / "cases" / "checkpointed_block.py"]
    check(backend, [*CASES, *INNOCENT] if backend == "aot_eager" else some, tmp_path)


def test_inductor(tmp_path: Path) -> None:
    check("inductor", OF_INDUCTOR, tmp_path)


@pytest.mark.release
def test_every_program_with_inductor(tmp_path: Path) -> None:
    check("inductor", [*CASES, *INNOCENT], tmp_path)
    check("inductor", OF_INDUCTOR, tmp_path)  # from the cache that the first run has filled


@pytest.mark.release
def test_the_run_is_as_without_nanscope(tmp_path: Path) -> None:
    program = HERE / "innocent" / "healthy_training.py"
    seen, plain = watch(program, tmp_path), run_plain(program, tmp_path)
    assert (seen.status, seen.out) == (plain.returncode, plain.stdout)
    assert seen.report["verdict"] == "clean", seen.err


@pytest.mark.release
def test_run_and_its_proposal(tmp_path: Path) -> None:
    program = HERE / "cases" / "log_in_a_loss.py"
    seen = watch(program, tmp_path)
    assert seen.status == 3
    assert seen.error["fix"]["diff"]
    assert seen.report["coverage"]["not_watched"] == []


def test_eager(tmp_path: Path) -> None:
    program = HERE / "cases" / "log_in_a_loss.py"
    seen = watch(program, tmp_path, "--eager")
    assert seen.error["origin"]["site"]["line"] == int(expectations(program)["line"][0])
    assert all(link["op"] != "torch.compile" for link in seen.error["chain"])
    assert seen.report["coverage"]["not_watched"] == []
