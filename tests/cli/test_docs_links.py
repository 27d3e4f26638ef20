"""The pages lead somewhere: links and paths exist, the index is whole, every verb has its page."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from watched import NANSCOPE, ROOT

DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)|\bsrc=\"([^\"]+)\"")
ROOMS = "adapters|bench|cmake|docs|examples|python|scripts|src|tests"
OPTION = re.compile(r"^  (?:(-\w), )?(--[\w-]+)", re.M)
OF_EVERY_VERB = {"--help", "--quiet", "--verbose", "--no-color"}


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def links_of(page: Path) -> list[str]:
    """The relative links of a page; what stands in code is no link."""
    found = LINK.findall(CODE.sub("", page.read_text()))
    return [a or b for a, b in found if not re.match(r"[a-z]+:", a or b)]


def anchors_of(page: Path) -> set[str]:
    """The headings of a page as browsers of Markdown name them."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def verbs() -> list[str]:
    text = subprocess.run([NANSCOPE, "--help"], capture_output=True, text=True).stdout
    return re.findall(r"^  ([a-z-]+) +[A-Z]", text, re.M)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in links_of(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert target.is_relative_to(ROOT), link
        if anchor:
            assert anchor in anchors_of(target), link


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_path_that_is_named_exists(page: Path) -> None:
    for path in re.findall(rf"`((?:{ROOMS})/[\w./*-]+)`", page.read_text()):
        assert any(ROOT.glob(path.rstrip("/"))), path


def test_every_page_is_reached_from_the_index() -> None:
    reached: set[Path] = set()
    waiting = [DOCS / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        links = [link.partition("#")[0] for link in links_of(page)]
        waiting += [(page.parent / path).resolve() for path in links if path]
    assert {name_of(page) for page in DOCS.rglob("*.md") if page not in reached} == set()


def test_the_index_names_every_page_but_those_of_causes() -> None:
    named = {(DOCS / link.partition("#")[0]).resolve() for link in links_of(DOCS / "README.md")}
    assert {name_of(page) for page in DOCS.glob("*.md") if page not in named} == {"docs/README.md"}


def test_every_verb_has_a_page_with_its_options() -> None:
    expected = {
        "run",
        "fix",
        "show",
        "report",
        "stats",
        "merge",
        "dump",
        "scan",
        "explain",
        "doctor",
    }
    assert expected <= set(verbs())
    for verb in verbs():
        page = (DOCS / f"{verb}.md").read_text()
        title, shown = page.split("\n\n")[:2]
        assert title == f"# nanscope {verb}"
        assert any(line.startswith(f"    nanscope {verb}") for line in shown.splitlines()), verb
        assert "| exit status | |" in page, verb
        usage = subprocess.run([NANSCOPE, verb, "--help"], capture_output=True, text=True).stdout
        for short, long in OPTION.findall(usage):
            if long not in OF_EVERY_VERB:
                assert f"`{long}" in page or (short and f"`{short}" in page), f"{verb} {long}"


def test_the_list_of_causes_is_the_catalogue() -> None:
    text = subprocess.run([NANSCOPE, "explain"], capture_output=True, text=True).stdout
    causes = re.findall(r"^  (\w+) +(.*)$", text, re.M)
    page = (DOCS / "explain.md").read_text()
    assert re.findall(r"^\| \[(\w+)\]\(causes/\1\.md\) \| (.*) \|$", page, re.M) == causes
