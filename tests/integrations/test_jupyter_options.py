"""Every option of `nanscope run` is heeded in a cell, or refused by a sentence."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from test_dashboards import Server
from test_jupyter import errors, executed, reports, write_notebook

from nanscope import _core

SETUP = """%load_ext nanscope
import torch
from nanscope.integrations.jupyter import CellBlock, parsed
good, bad = torch.tensor([0.1, 0.2]), torch.tensor([0.1, 0.0])
steps, compilations = [], []

def train(p, count=1):
    w = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([w], 0.0)
    for step in range(count):
        optimizer.zero_grad()
        (w * torch.log(p)).sum().backward()
        optimizer.step()
        steps.append(step)

def compiler(graph, _):
    compilations.append(graph)
    return graph.forward

torch._dynamo.config.suppress_errors = False
doubled = torch.compile(lambda x: x * 2, backend=compiler)
"""
# The cell that has the option; an address in it is that of a server that answers.
CELLS = {
    "--output": "%nanscope -o made.nsc train(bad)",
    "--force": "%nanscope --force -o made.nsc train(bad)",
    "--json": "%nanscope --json made.json train(good)",
    "--html": "%nanscope --html made.html train(good)",
    "--keep-going": "%nanscope --keep-going train(bad)",
    "--raise": "%nanscope --raise train(bad)",
    "--strict": "%nanscope --strict torch.log(torch.zeros(1)).nan_to_num()",
    "--eager": "%nanscope --eager doubled(good)\nprint(len(compilations))\ndoubled(good)\n"
    "print(len(compilations))",
    "--mode": "%nanscope --mode sentinel --json sentinel.json train(good)",
    "--snapshot-every": "words = ['--mode', 'sentinel', '--snapshot-every', '7']\n"
    "print(CellBlock(parsed(words), '').snapshot_every)",
    "--allow": "%nanscope --allow In[1]:12 train(bad)",
    "--notify": "%nanscope --notify ADDRESS train(bad)",
    "--layer": "%nanscope --layer head train(bad)",
    "--file": "%nanscope --file other.py train(bad)",
    "--steps": "steps.clear()\n%nanscope --steps 2 train(good, 4)\nprint(len(steps))",
    "--quiet": "%nanscope --quiet train(good)",
    "--verbose": "%nanscope --verbose train(bad)",
    "--no-color": "%nanscope --no-color train(bad)",
    "--help": "%%nanscope --help\ntrain(bad)",
    "--pdb": "%nanscope --pdb train(good)",
    "--bad-batch": "%nanscope --bad-batch kept train(good)",
    "--nproc": "%nanscope --nproc 2 train(good)",
    "--no-follow": "%nanscope --no-follow train(good)",
}
REFUSED = ("--pdb", "--bad-batch", "--nproc", "--no-follow")


def options_of_run() -> set[str]:
    usage = _core.command_line(["nanscope", "run", "--help"], _core.Terminal()).out.decode()
    return set(re.findall(r"^ {2,6}(?:-\w, )?(--[\w-]+)", usage, re.MULTILINE))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, list[dict]], list]:
    folder = tmp_path_factory.mktemp("options")
    (folder / "other.py").touch()
    with Server() as server:
        cells = [cell.replace("ADDRESS", server.address) for cell in CELLS.values()]
        notebook = write_notebook(folder / "notebook.ipynb", [SETUP, *cells, "torch.log(good)"])
        outputs = executed(notebook)
    return folder, dict(zip(CELLS, outputs[1:], strict=False)), server.received


def said(outputs: list[dict]) -> str:
    """What the cell printed, or was told instead."""
    return "".join(x.get("text", "") + x.get("evalue", "") for x in outputs)


def text_of(outputs: list[dict]) -> str:
    (report,) = reports(outputs)
    return report["text/plain"]


def test_none_is_forgotten() -> None:
    assert set(CELLS) == options_of_run()


@pytest.mark.parametrize("option", REFUSED)
def test_what_does_not_fit_a_cell_is_refused(made, option: str) -> None:
    outputs = made[1][option]
    assert f"{option} does not fit a cell: " in said(outputs)
    assert reports(outputs) == []


def test_outputs_are_written(made) -> None:
    folder, outputs, _ = made
    assert (folder / "made.nsc").stat().st_size > 0
    assert errors(outputs["--force"])[0] == "NonFiniteError"  # not that made.nsc exists
    assert json.loads((folder / "made.json").read_text())["verdict"] == "clean"
    assert "<!doctype html>" in (folder / "made.html").read_text().lower()
    assert reports(outputs["--quiet"]) == [] and errors(outputs["--quiet"]) == []
    plain = text_of(outputs["--no-color"])
    assert "\x1b" not in plain
    assert len(text_of(outputs["--verbose"]).splitlines()) > len(plain.splitlines())
    assert "`nanscope fix NOTEBOOK.ipynb` looks for one" in " ".join(plain.split())
    assert "usage: nanscope run" in said(outputs["--help"])


def test_the_end_is_as_asked_for(made) -> None:
    outputs = made[1]
    assert errors(outputs["--keep-going"]) == []
    assert errors(outputs["--raise"])[0] == errors(outputs["--strict"])[0] == "NonFiniteError"
    assert said(outputs["--steps"]).endswith("1\n")  # the second ended within its step()
    assert "2 steps" in text_of(outputs["--steps"])
    (ended,) = [x for x in outputs["--steps"] if x["output_type"] == "error"]
    assert ended["traceback"] == ["nanscope ended the cell: the steps that were asked for are done"]


def test_what_is_watched_is_as_asked_for(made) -> None:
    folder, outputs, received = made
    assert json.loads((folder / "sentinel.json").read_text())["program"]["mode"] == "sentinel"
    assert said(outputs["--snapshot-every"]) == "7.0\n"
    for option in ("--allow", "--layer", "--file"):
        assert errors(outputs[option]) == [], option
    assert "--allow In[1]:12" in text_of(outputs["--allow"])
    assert said(outputs["--eager"]).split() == ["0", "1"]  # and compiled again after the cell
    ((path, body, _),) = received
    assert path == "/hook" and body["text"].startswith("nanscope: In[1]:12:")
