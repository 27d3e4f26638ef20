"""Every command of the pages is one that nanscope understands; every example is run by a test."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from nanscope import _core
from watched import ROOT

DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", *DOCS.rglob("*.md")])
BLOCK = re.compile(r"```(?:sh|text|console)?\n(.*?)```|((?:^    .*\n)+)", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"^\s*(?:\$ )?(nanscope [a-z-]+(?: .*)?)$", re.MULTILINE)
PLACEHOLDER = re.compile(r"\[|\.\.\.|[A-Z]{3,}|[<>]")  # of a line that says how it is used
MISUNDERSTOOD = re.compile(r"there is no|needs|takes|is one of|wants|unknown|not both|usage", re.I)


def commands_of(page: Path) -> list[str]:
    """Without those that only show the form, and without what a shell does with the rest."""
    text = "\n".join(a or b for a, b in BLOCK.findall(page.read_text()))
    lines = [re.split(r"\s+#|\s\|", line)[0].strip() for line in COMMAND.findall(text)]
    return [line for line in lines if not PLACEHOLDER.search(line)]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", [p for p in PAGES if commands_of(p)], ids=name_of)
def test_every_command_is_understood(page: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for line in commands_of(page):
        words = shlex.split(line)
        if any("*" in word for word in words):
            continue  # names that a shell would fill in
        outcome = _core.command_line(words, _core.Terminal())
        said = outcome.err.decode()
        # Files that are not here are missed; that is no fault of the command.
        missed = "does not exist" in said or "cannot be read" in said or "no such" in said.lower()
        assert missed or not MISUNDERSTOOD.search(said), (line, said)
        assert outcome.status in (0, 2), line


def test_the_pages_have_commands() -> None:
    assert sum(len(commands_of(page)) for page in PAGES) > 25


@pytest.mark.parametrize(
    "example", sorted((ROOT / "examples/integrations").rglob("*.*")), ids=lambda p: p.name
)
def test_every_example_of_a_tool_is_in_a_page_and_in_a_test(example: Path) -> None:
    named = str(example.relative_to(ROOT))
    pages = [page for page in DOCS.rglob("*.md") if named in page.read_text()]
    assert pages, f"no page names {named}"
    tests = [test.read_text() for test in (ROOT / "tests").rglob("test_*.py")]
    executed = re.compile(rf"\b({re.escape(example.name)}|import {example.stem})\b")
    assert any(executed.search(text) for text in tests), named
