"""`%%nanscope` in a real kernel."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from installed_packages import WITH_PACKAGES

from watched import ROOT

HERE = Path(__file__).resolve().parent
CELLS = [
    """%load_ext nanscope
import torch
w = torch.ones(3, requires_grad=True)
optimizer = torch.optim.SGD([w], 0.1)
good, bad = torch.tensor([0.1, 0.2, 0.3]), torch.tensor([0.1, 0.0, 0.3])

def loss_of(p):
    return (w * torch.log(p)).sum()
""",
    """%%nanscope
for p in (good, bad):
    loss_of(p).backward()
    optimizer.step()
""",
    "w.grad = None",
    "%nanscope loss_of(good).backward()",
    "%nanscope --keep-going -v (loss_of(bad) * 2).backward()",
    "%%nanscope --stpes 3\nx = 1",
    "%%nanscope\nraise KeyError('mine')",
    "%%nanscope --html page.html --json report.json\n7 * 6",
    "%nanscope",
    "%%nanscope\nimport asyncio\nawait asyncio.sleep(0)",
    "%%nanscope\nx = 1 +",
    "%reload_ext nanscope\nw.grad = None\n%nanscope loss_of(good).backward()",
]


def executed(notebook: Path, **more: str) -> list[list[dict]]:
    """The outputs of each cell; `more` of the environment."""
    command = [sys.executable, HERE / "run_notebook.py", notebook]
    environment = {**WITH_PACKAGES, **more}
    done = subprocess.run(
        command, cwd=notebook.parent, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def write_notebook(path: Path, cells: list[str]) -> Path:
    empty = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": []}
    made = [{**empty, "source": cell} for cell in cells]
    path.write_text(json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}))
    return path


def reports(outputs: list[dict]) -> list[dict]:
    """What was displayed, by kind of text."""
    return [x["data"] for x in outputs if x["output_type"] == "display_data"]


def errors(outputs: list[dict]) -> list[str]:
    return [x["ename"] for x in outputs if x["output_type"] == "error"]


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[list[dict]]]:
    folder = tmp_path_factory.mktemp("notebook")
    notebook = write_notebook(folder / "notebook.ipynb", CELLS)
    return folder, executed(notebook, JPY_SESSION_NAME=str(notebook))  # as Jupyter's server does


def test_names_cell_and_line_where_it_happened(cells: tuple[Path, list[list[dict]]]) -> None:
    outputs = cells[1][1]
    assert errors(outputs)[0] == "NonFiniteError"
    trace = re.sub(r"\x1b\[[\d;]*m", "", "\n".join(outputs[0]["traceback"]))
    assert "Cell In[2], line 4" in trace
    assert "nanscope/integrations" not in trace
    # The notebook is stopped by an error of its own, which says which.
    assert outputs[-1]["traceback"] == [
        "NonFiniteError: In[1]:8:17: aten::log made -inf; the traceback stands above"
    ]
    (report,) = reports(outputs)
    text = report["text/plain"]
    assert text.startswith("nanscope: error: In[1]:8:17: aten::log made -inf")
    assert "called from In[2]:3 in <module>\n" in text  # and by nothing above the cell
    assert "log_of_zero" in text
    shown = report["text/html"]
    assert "<script" not in shown.split("<iframe")[0]
    assert "log_of_zero" in shown and "srcdoc=" in shown
    # The page is the notebook's, not the kernel's.
    page = html.unescape(shown.partition("srcdoc=")[2])
    assert "<title>nanscope: notebook.ipynb</title>" in page
    assert "ipykernel_launcher" not in page


def test_what_earlier_cells_left_is_watched_on(cells: tuple[Path, list[list[dict]]]) -> None:
    healthy, bad = cells[1][3], cells[1][4]
    assert errors(healthy) == []
    assert reports(healthy)[0]["text/plain"].startswith("nanscope: clean.")
    assert errors(bad) == []  # --keep-going
    assert "In[1]:8:17: aten::log made -inf" in reports(bad)[0]["text/plain"]


def test_bad_words_get_a_sentence(cells: tuple[Path, list[list[dict]]]) -> None:
    unknown, nothing = ("".join(x.get("text", "") for x in cells[1][i]) for i in (5, 8))
    assert "there is no option --stpes" in unknown
    assert "wants a statement" in nothing
    awaits = "".join(x.get("text", "") for x in cells[1][9])
    assert "a cell that awaits something by itself does not fit %%nanscope" in awaits


def test_what_never_ran_is_not_called_clean(cells: tuple[Path, list[list[dict]]]) -> None:
    assert errors(cells[1][10]) == ["SyntaxError", "AlreadyShown"]
    assert reports(cells[1][10]) == []


def test_it_can_be_loaded_again(cells: tuple[Path, list[list[dict]]]) -> None:
    (report,) = reports(cells[1][11])
    assert report["text/plain"].startswith("nanscope: clean.")


def test_the_programs_own_exception_is_shown_as_ever(cells: tuple[Path, list[list[dict]]]) -> None:
    assert errors(cells[1][6])[0] == "KeyError"


def test_options_are_those_of_run(cells: tuple[Path, list[list[dict]]]) -> None:
    folder, outputs = cells
    assert json.loads((folder / "report.json").read_text())["verdict"] == "clean"
    assert "<!doctype html>" in (folder / "page.html").read_text().lower()
    result = next(x for x in outputs[7] if x["output_type"] == "execute_result")
    assert result["data"]["text/plain"] == "42"
    assert result["execution_count"] == 8  # its own, not that of a cell before it


def test_the_example_runs(tmp_path: Path) -> None:
    source = ROOT / "examples/integrations/notebook.ipynb"
    copy = tmp_path / source.name
    copy.write_bytes(source.read_bytes())
    last = executed(copy)[-1]
    text = reports(last)[0]["text/plain"]
    assert "aten::log made -inf" in text and "In[2]:3" in text
    assert int(re.search(r"phase forward, step (\d+)", text)[1]) > 20  # it trained for a while
    assert "looks for one in the notebook as it was saved" in " ".join(text.split())
    # Where nobody says which file it is, the page has the cell's name.
    page = html.unescape(reports(last)[0]["text/html"])
    assert re.search(r"<title>nanscope: In\[\d\]</title>", page)
    assert "ipykernel_launcher" not in page
