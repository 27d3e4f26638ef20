"""Harm that is undone or not, metrics that end a program or not, and what is allowed.

The programs of tests/harm/harmful say in their first line which kinds of harm are right: `# error`
with their names; those of tests/harm/innocent say `# innocent`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from watched import ROOT, watch

PROGRAMS = sorted((ROOT / "tests" / "harm").glob("*/*.py"))
ALWAYS = {
    "harmful/learning_rate_is_nan",
    "harmful/metric_is_a_tensor",
    "harmful/metric_patience",
    "harmful/rollback_forgets_adam",
    "harmful/scipy_list",
    "innocent/range_test_momentum",
    "innocent/rollback_data_assign",
}


def check(program: Path, folder: Path, *options: str) -> None:
    word, _, kinds = program.read_text().splitlines()[0].removeprefix("# ").partition(" ")
    seen = watch(program, folder, *options)
    if word == "innocent":
        assert seen.first("error") is None, seen.err
        assert seen.status != 3
    else:
        assert seen.error["harm"]["kind"] in kinds.split("|"), seen.err
        assert seen.status == 3


def name(program: Path) -> str:
    return f"{program.parent.name}/{program.stem}"


def named(programs: list[Path]) -> dict:
    return {"argvalues": programs, "ids": [name(program) for program in programs]}


@pytest.mark.parametrize("program", **named([p for p in PROGRAMS if name(p) in ALWAYS]))
def test_harm(program: Path, tmp_path: Path) -> None:
    check(program, tmp_path)


@pytest.mark.release
@pytest.mark.parametrize("program", **named([p for p in PROGRAMS if name(p) not in ALWAYS]))
def test_more_harm(program: Path, tmp_path: Path) -> None:
    check(program, tmp_path)


@pytest.mark.release
@pytest.mark.parametrize("program", **named(PROGRAMS))
def test_harm_in_sentinel_mode(program: Path, tmp_path: Path) -> None:
    check(program, tmp_path, "--mode", "sentinel")


DIVIDES = """import nanscope, torch
w = torch.nn.Parameter(torch.ones(2)); o = torch.optim.SGD([w], 0.1)
scale = 1 / torch.tensor([1.0, 0.0])  COMMENT
(w * scale).sum().backward(); o.step()
"""


def test_a_comment_allows_its_line(tmp_path: Path) -> None:
    seen = watch(DIVIDES.replace("COMMENT", "# nanscope: allow: no such class"), tmp_path)
    assert (seen.status, seen.report["verdict"]) == (0, "clean"), seen.err
    assert seen.first("note")["allowed"] == "no such class"
    assert seen.report["coverage"]["allowed"][0]["count"] == 1


def test_a_block_allows_what_it_makes(tmp_path: Path) -> None:
    block = DIVIDES.replace("scale = ", "with nanscope.allow('meant'): scale = ")
    seen = watch(block.replace("COMMENT", ""), tmp_path)
    assert (seen.status, seen.report["verdict"]) == (0, "clean"), seen.err
    assert seen.first("note")["allowed"] == "meant"


def test_options_and_pyproject_allow_and_the_unneeded_is_told(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.nanscope]\nallow = ["program.py:3"]\n')
    seen = watch(DIVIDES.replace("COMMENT", ""), tmp_path, "--allow", "program.py:4")
    assert (seen.status, seen.report["verdict"]) == (0, "clean"), seen.err
    assert "--allow program.py:4 was never needed" in " ".join(seen.err.split())


def test_a_comment_that_was_never_needed_is_told(tmp_path: Path) -> None:
    seen = watch("import torch\nx = torch.ones(3) * 2  # nanscope: allow\n", tmp_path)
    assert seen.status == 0
    assert "`# nanscope: allow` at program.py:2 was never needed" in " ".join(seen.err.split())


def test_another_line_is_not_allowed(tmp_path: Path) -> None:
    seen = watch(DIVIDES.replace("COMMENT", ""), tmp_path, "--allow", "program.py:2")
    assert seen.status == 3
    assert seen.error["origin"]["site"]["line"] == 3
