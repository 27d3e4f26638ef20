"""The mutable state of the adapter is listed in one table, and there is little of it."""

import re
from pathlib import Path

ADAPTER = Path(__file__).resolve().parents[2] / "adapters/torch"
MOST = 14

# A leaked singleton, a variable of each thread, and a variable at the level of the file.
SINGLETON = re.compile(r"^\s*static auto& \w+ = \*new (\w+);", re.MULTILINE)
OF_EACH_THREAD = re.compile(r"^\s*(?:__thread|thread_local) \S+ (\w+)(?: =[^;]*)?;", re.MULTILINE)
OF_THE_FILE = re.compile(
    r"^(?!using|return|extern|namespace)[A-Za-z_][\w:<>]* (\w+)(?: = [^;]*|\{[^;]*\})?;$",
    re.MULTILINE,
)
OF_THE_CLASS = re.compile(r"^(\w+)\* const \1::\w+ = new \1;", re.MULTILINE)


def state_of(text: str) -> set[str]:
    patterns = (SINGLETON, OF_EACH_THREAD, OF_THE_FILE, OF_THE_CLASS)
    return {name for pattern in patterns for name in pattern.findall(text)}


def listed() -> set[tuple[str, str]]:
    rows = re.findall(r"^\| `(\w+)` \| `([^`]+)` \|", (ADAPTER / "globals.md").read_text(), re.M)
    return set(rows)


def test_the_table_lists_what_there_is() -> None:
    found = {
        (name, file.relative_to(ADAPTER).as_posix())
        for file in ADAPTER.rglob("*.cc")
        if not file.name.endswith("_test.cc")
        for name in state_of(file.read_text())
    }
    assert found == listed()


def test_it_is_little() -> None:
    assert len(listed()) <= MOST
