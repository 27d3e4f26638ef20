"""Every program of tests/cases and tests/innocent against the finding in its header."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from watched import ROOT, run_plain, watch

CASES = sorted((ROOT / "tests" / "cases").glob("*.py"))
INNOCENT = sorted((ROOT / "tests" / "innocent").glob("*.py"))


def expectations(program: Path) -> dict[str, list[str]]:
    """The header: `# word: this | or that`."""
    found = {}
    for line in program.read_text().splitlines():
        if not line.startswith("#"):
            break
        if match := re.match(r"# (\w+): (.*)", line):
            found[match[1]] = [word.strip() for word in match[2].split("|")]
    return found


@pytest.mark.parametrize("program", CASES, ids=lambda path: path.stem)
def test_case(program: Path, tmp_path: Path) -> None:
    wanted = expectations(program)
    seen = watch(program, tmp_path)
    may_warn = wanted["expect"] == ["error or warning"]
    finding = seen.first("error", "warning") if may_warn else seen.error
    assert finding is not None, seen.err
    assert seen.status == (3 if finding["level"] == "error" else 0)
    origin = finding["origin"]
    assert origin["op"] in wanted["op"]
    assert origin["phase"] in wanted["phase"]
    site = origin["site"]
    assert Path(site["file"]).name == program.name
    assert str(site["line"]) in wanted["line"], site
    assert finding["cause"]["id"] in wanted["cause"], finding["cause"]
    first_line = site["code"].split("\n")[0].strip()
    assert first_line and first_line in program.read_text().split("\n")[site["line"] - 1]


@pytest.mark.parametrize("program", INNOCENT, ids=lambda path: path.stem)
def test_innocent(program: Path, tmp_path: Path) -> None:
    expected = expectations(program)["expect"]
    assert expected in (["silence"], ["warning"])
    seen = watch(program, tmp_path)
    plain = run_plain(program, tmp_path)
    assert seen.first("error") is None, seen.err
    assert (seen.first("warning") is not None) == (expected == ["warning"]), seen.err
    assert (seen.status, seen.out) == (plain.returncode, plain.stdout)
    assert seen.report["verdict"] == "clean"
