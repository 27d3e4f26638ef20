"""docs/tutorial.md: its code runs, and prints what the page says."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from watched import ENVIRONMENT, ROOT

PAGE = ROOT / "docs" / "tutorial.md"
PAIR = re.compile(r"^```python\n(.*?)^```$(?:\n+^```text\n(.*?)^```$)?", re.M | re.S)


def without_numbers(text: str) -> list[str]:
    """Another processor may round otherwise; columns follow the width of their numbers."""
    return re.sub(r"-?\d[\d,.]*(e[+-]?\d+)?", "#", re.sub(r"[ ^]+", " ", text)).split("\n")


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("tutorial")
    command = [sys.executable, ROOT / "tests" / "api" / "tutorial.py", PAGE, folder]
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_block_prints_what_the_page_says(printed: list[str]) -> None:
    blocks = PAIR.findall(PAGE.read_text())
    assert len(blocks) == len(printed) >= 12
    for (code, said), output in zip(blocks, printed, strict=True):
        assert without_numbers(output.strip()) == without_numbers(said.strip()), code


def test_six_steps_each_by_hand_and_with_nanscope() -> None:
    steps = re.findall(r"^## (\d)\. .*?(?=^## |\Z)", PAGE.read_text(), re.M | re.S)
    assert steps == ["1", "2", "3", "4", "5", "6"]
    for step in re.split(r"^## ", PAGE.read_text(), flags=re.M)[1:]:
        assert "By hand" in step and "nanscope" in step and step.count("```text") >= 2


EXAMPLES = sorted((ROOT / "examples" / "api").glob("*.py"))
RUN_ALL = """
import runpy, sys
for path in sys.argv[1:]:
    print("\\n===", path.rpartition("/")[2], flush=True)
    runpy.run_path(path, run_name="__main__")
"""


def test_every_function_has_an_example_that_runs() -> None:
    import nanscope

    functions = {name for name in nanscope.__all__ if name[0].islower()}
    assert {path.stem for path in EXAMPLES} == functions
    command = [sys.executable, "-c", RUN_ALL, *EXAMPLES]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for example, output in zip(EXAMPLES, done.stdout.split("\n===")[1:], strict=True):
        assert len(output.strip().splitlines()) > 1, example.name
