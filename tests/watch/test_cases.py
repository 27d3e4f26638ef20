"""Every program of tests/cases and tests/innocent against the finding in its header."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

import pytest

from watched import ROOT, run_plain, watch

CASES = sorted((ROOT / "tests" / "cases").glob("*.py"))
INNOCENT = sorted((ROOT / "tests" / "innocent").glob("*.py"))


def expectations(program: Path, torch: str | None = None) -> dict[str, list[str]]:
    """The header: `# word: this | or that`, or `# word: this; from torch 2.14: that`.

    Versions of torch name an op differently, or mend a fault of their own: of what is expected
    from a version on, the last that has begun holds.
    """
    here = numbers(torch or version("torch"))
    found = {}
    for line in program.read_text().splitlines():
        if not line.startswith("#"):
            break
        if match := re.match(r"# (\w+): (.*)", line):
            first, *later = re.split(r"; from torch ([\d.]+): ", match[2])
            begun = [words for since, words in pairs(later) if here >= numbers(since)]
            found[match[1]] = [word.strip() for word in [first, *begun][-1].split("|")]
    return found


def pairs(words: list[str]) -> list[tuple[str, str]]:
    return list(zip(words[::2], words[1::2], strict=True))


def numbers(version: str) -> tuple[int, ...]:
    """2.9 is older than 2.14."""
    return tuple(int(number) for number in re.findall(r"\d+", version)[:2])


def test_a_header_may_say_what_holds_from_a_version_on(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("# op: a | b; from torch 2.8: c; from torch 2.14: d | e\nimport torch\n")
    assert expectations(program, "2.7.1")["op"] == ["a", "b"]
    assert expectations(program, "2.9.1")["op"] == ["c"]
    assert expectations(program, "2.14.0+cpu")["op"] == ["d", "e"]
    assert expectations(program, "3.0")["op"] == ["d", "e"]


@pytest.mark.parametrize("program", CASES, ids=lambda path: path.stem)
def test_case(program: Path, tmp_path: Path) -> None:
    wanted = expectations(program)
    seen = watch(program, tmp_path)
    if wanted["expect"] == ["silence"]:  # this torch has mended it
        assert seen.first("error", "warning") is None, seen.err
        assert seen.report["verdict"] == "clean"
        return
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
