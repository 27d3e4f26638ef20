"""Source that is hard to show: each fault is found, its line is right, and nothing is invented."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from watched import ENVIRONMENT, NANSCOPE, watch

FAULT = (
    "def fault(w):\n    opt = torch.optim.SGD([w], lr=0.1)\n    torch.sqrt(w).sum().backward()\n"
)
FAULT += "    opt.step()\n"
LONG = " + ".join(["0 * torch.ones(1)"] * 400)

# One process for all of them: with --keep-going each line has its own finding.
PROGRAM = f"""# coding: utf-8
import sys, os, linecache, torch

sys.path.insert(0, "inside.zip")
import zipped.module
import tabs
import changed
import without_columns

with open("changed.py", "w") as file:  # while it runs
    file.write("# another text\\n" * 9)

def start(): return torch.tensor([-1.0], requires_grad=True)

def größe(λ):
    opt = torch.optim.SGD([λ], lr=0.1)
    "äöü 日本"; torch.sqrt(λ).sum().backward()
    opt.step()

def long(w):
    opt = torch.optim.SGD([w], lr=0.1)
    ({LONG} + torch.sqrt(w)).sum().backward()
    opt.step()

text = {FAULT!r}
executed = {{"torch": torch}}
exec(text, executed)
cell = {{"torch": torch}}
name = "<ipython-input-3-abc>"
linecache.cache[name] = (len(text), None, text.splitlines(True), name)
exec(compile(text, name, "exec"), cell)

for fault in (zipped.module.fault, tabs.fault, changed.fault, without_columns.fault,
              größe, long, executed["fault"], cell["fault"]):
    fault(start())
"""


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict]:
    """The site of each finding, by the name of its file and function."""
    folder = tmp_path_factory.mktemp("odd")
    module = "import torch\n" + FAULT
    (folder / "tabs.py").write_text(module.replace("    ", "\t"))
    (folder / "changed.py").write_text(module)
    with zipfile.ZipFile(folder / "inside.zip", "w") as archive:
        archive.writestr("zipped/__init__.py", "")
        archive.writestr("zipped/module.py", module)
    _compile_without_columns(folder, module)
    seen = watch(PROGRAM, folder, "--keep-going")
    assert seen.status == 3
    found = {}
    for finding in seen.report["findings"]:
        if finding["level"] == "error" and finding["origin"]["op"] == "aten::sqrt":
            site = finding["origin"]["site"]
            found[Path(site["file"]).name, site["function"]] = site
    return found


def _compile_without_columns(folder: Path, text: str) -> None:
    """A .pyc alone, made as with PYTHONNODEBUGRANGES."""
    import subprocess
    import sys

    (folder / "without_columns.py").write_text(text)
    code = "import py_compile; py_compile.compile('without_columns.py', 'without_columns.pyc')"
    environment = {**ENVIRONMENT, "PYTHONNODEBUGRANGES": "1"}
    subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment, check=True)
    (folder / "without_columns.py").unlink()


def test_a_module_in_a_zip(sites) -> None:
    site = sites["module.py", "fault"]
    assert (site["line"], site["code"]) == (4, "torch.sqrt(w)")


def test_tabs_count_as_one_column(sites) -> None:
    site = sites["tabs.py", "fault"]
    assert (site["line"], site["col"], site["code"]) == (4, 1, "torch.sqrt(w)")


def test_a_file_that_changed_since_shows_no_other_text(sites) -> None:
    site = sites["changed.py", "fault"]
    assert site["line"] == 4 and "another" not in json.dumps(site)


def test_code_without_columns_has_its_line(sites) -> None:
    assert sites["without_columns.py", "fault"]["line"] == 4


def test_columns_are_characters(sites) -> None:
    site = sites["program.py", "größe"]
    line = PROGRAM.splitlines()[site["line"] - 1]
    assert site["code"] == "torch.sqrt(λ)" == line[site["col"] : site["end_col"]]


def test_a_very_long_line(sites) -> None:
    site = sites["program.py", "long"]
    line = PROGRAM.splitlines()[site["line"] - 1]
    assert len(line) > 7000
    assert site["code"] == "torch.sqrt(w)" == line[site["col"] : site["end_col"]]


def test_executed_text(sites) -> None:
    assert sites["<string>", "fault"]["line"] == 3


def test_a_cell_of_a_notebook(sites) -> None:
    site = sites["<ipython-input-3-abc>", "fault"]
    assert (site["line"], site["code"]) == (3, "torch.sqrt(w)")


def test_the_report_of_a_very_long_line_is_not_wide(tmp_path: Path) -> None:
    import subprocess

    (tmp_path / "program.py").write_text(
        f"import torch\nw = torch.tensor([-1.0])\ny = {LONG} + torch.sqrt(w)\nprint(y)\n"
    )
    done = subprocess.run(
        [NANSCOPE, "run", "program.py"], cwd=tmp_path, env=ENVIRONMENT, capture_output=True
    )
    assert done.returncode == 3
    assert max(map(len, done.stderr.decode().splitlines())) <= 100
