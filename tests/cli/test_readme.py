"""The commands of the README, executed; its diagnosis is the one that is printed."""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
from html import unescape
from pathlib import Path

import pytest

from watched import ENVIRONMENT, NANSCOPE, ROOT, read_report

README = (ROOT / "README.md").read_text()


def nanscope(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [NANSCOPE, *arguments], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory):
    """`nanscope run examples/vae.py`, in a folder that has the example."""
    folder = tmp_path_factory.mktemp("readme")
    (folder / "examples").symlink_to(ROOT / "examples")
    done = nanscope(folder, "run", "--json", "finding.json", "examples/vae.py")
    return folder, done


def without_numbers(text: str) -> str:
    """Another processor may need a step more or less."""
    return re.sub(r"\d[\d,.]*", "#", text).strip()


def test_the_diagnosis_is_as_printed_in_the_readme(demo) -> None:
    _, done = demo
    assert done.returncode == 3
    printed = [without_numbers(line) for line in (done.stdout + done.stderr).splitlines()]
    block = README.split("```text\n")[1].split("```")[0].splitlines()
    assert block[0] == "$ nanscope run examples/vae.py"
    for line in block[1:]:
        if line.strip() and line.strip() != "...":
            assert without_numbers(line) in printed


def test_the_picture_shows_what_is_printed(demo) -> None:
    _, done = demo
    printed = "".join(without_numbers(done.stdout + done.stderr).split())
    picture = (ROOT / "docs" / "diagnosis.svg").read_text()
    lines = re.findall(r"<text[^>]*>(.*?)</text>", picture)[1:]  # the first is the command
    assert len(lines) > 40 and len(picture) < 60_000
    for line in lines:
        words = unescape(re.sub(r"<[^>]*>", "", line))
        if words != "..." and not re.match(r"(---|\+\+\+) [ab]/|(Capture|Next): ", words):
            assert "".join(without_numbers(words).split()) in printed


def test_show_and_dump_read_the_capture_again(demo) -> None:
    folder, done = demo
    capture = next(folder.glob("nanscope-vae.*.nsc"))
    shown = nanscope(folder, "show", capture.name)
    assert shown.returncode == 0
    first = done.stderr.index("First Bad Operation")
    last = done.stderr.index("Coverage:")
    assert done.stderr[first:last] in shown.stdout
    dumped = nanscope(folder, "dump", capture.name)
    assert dumped.returncode == 0 and "aten::log" in dumped.stdout


def test_json_fits_the_schema_and_names_the_line(demo) -> None:
    folder, _ = demo
    report = read_report((folder / "finding.json").read_text())
    site = report["findings"][0]["origin"]["site"]
    source = (ROOT / "examples" / "vae.py").read_text().splitlines()
    assert source[site["line"] - 1][site["col"] : site["end_col"]] == "torch.log(1 - recon)"
    assert report["program"]["ended"] == "stopped" and report["program"]["exit_status"] == 3


def test_doctor(tmp_path: Path) -> None:
    done = nanscope(tmp_path, "doctor")
    assert done.returncode == 0, done.stdout + done.stderr
    version = importlib.metadata.version("torch")
    assert re.search(rf"^torch    {re.escape(version)}\S*, a build for", done.stdout, re.M)
    assert f"adapter  for torch {version.rsplit('.', 1)[0]}" in done.stdout
    assert "kernels of torch" in done.stdout


def test_every_planted_birth_is_found_here(tmp_path: Path) -> None:
    done = nanscope(tmp_path, "doctor", "--self-test")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^self-test: (\d+) of \1 planted births found", done.stdout, re.M)
    assert list(tmp_path.iterdir()) == []


def test_every_make_target_of_the_readme_exists() -> None:
    listed = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True).stdout
    for target in set(re.findall(r"^make ([a-z]+)", README, re.M)):
        assert re.search(rf"^make {target} ", listed, re.M), target


def test_a_capture_that_exists_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "clean.py").write_text("import torch\nprint(torch.ones(2).sum().item())\n")
    (tmp_path / "old.nsc").write_text("mine")
    done = nanscope(tmp_path, "run", "-o", "old.nsc", "clean.py")
    assert done.returncode == 2 and "old.nsc exists; nothing was written" in done.stderr
    assert done.stdout == "" and (tmp_path / "old.nsc").read_text() == "mine"
    done = nanscope(tmp_path, "run", "-f", "-q", "--json", "-", "-o", "old.nsc", "clean.py")
    assert done.returncode == 0 and done.stderr == ""
    program, report = done.stdout.split("\n", 1)
    assert program == "2.0"
    assert read_report(report)["verdict"] == "clean"
    assert json.loads(report)["coverage"]["ops_watched"] > 0
    assert nanscope(tmp_path, "show", "old.nsc").returncode == 0
