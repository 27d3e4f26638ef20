"""Callbacks of real trainers, in real fits: the programs of examples/integrations, and more."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from installed_packages import WITH_PACKAGES

from watched import NANSCOPE, ROOT

pytestmark = pytest.mark.slow
EXAMPLES = ROOT / "examples" / "integrations"
BEGIN = f"import json, sys\nsys.path.insert(0, {str(EXAMPLES)!r})\n"
LIGHTNING = (
    BEGIN
    + """
import lightning_fit as example
from nanscope import NonFiniteError

def told(callback, trainer):
    finding = callback.finding
    line = finding.origin.site.line if finding else None
    print(json.dumps([line, callback.training.place, trainer and trainer.global_step]), flush=True)

for healthy, on_find, mode in (
    (True, "stop", "exact"), (False, "stop", "exact"), (False, "go_on", "exact"),
    (False, "raise", "exact"), (True, "stop", "sentinel"), (False, "stop", "sentinel"),
):
    callback = example.NanscopeCallback(on_find, mode)
    try:
        told(callback, example.fit(healthy, callback))
    except NonFiniteError as error:
        assert error.finding.origin.op == "aten::div"
        told(callback, None)
"""
)
# What one batch leaves behind does harm in a later one.
LATER = (
    BEGIN
    + """
import torch
import lightning_fit as example

class Later(example.SemiSupervised):
    def training_step(self, batch, index):
        if index == 2:
            self.offset = torch.log(torch.zeros(()))
        loss = super().training_step(batch, index)
        return loss + self.offset if index == 5 else loss

example.SemiSupervised = Later
example.fit(True, example.NanscopeCallback())
"""
)
TRANSFORMERS = (
    BEGIN
    + """
import transformers_trainer as example
from nanscope import NonFiniteError

def told(callback, trainer):
    op = callback.finding.origin.op if callback.finding else None
    row = [op, callback.training.place, trainer and trainer.state.global_step]
    print(json.dumps(row), flush=True)

for empty, on_find, mode in (
    (None, "stop", "exact"), (20, "stop", "exact"), (20, "go_on", "exact"), (20, "raise", "exact"),
    (None, "stop", "sentinel"), (20, "stop", "sentinel"),
):
    callback = example.NanscopeCallback(on_find, mode)
    try:
        told(callback, example.train(empty, callback, "trained"))
    except NonFiniteError as error:
        assert error.finding.origin.op == "aten::nll_loss_forward"
        told(callback, None)
"""
)


def run(program: str, folder: Path) -> subprocess.CompletedProcess:
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env=WITH_PACKAGES,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done


def answers(done: subprocess.CompletedProcess) -> list[list]:
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]


def test_lightning(tmp_path: Path) -> None:
    done = run(LIGHTNING, tmp_path)
    healthy, stopped, went_on, raised, *sentinel = answers(done)
    place = {"epoch": 0, "batch": 8, "global step": 8, "batch of": "3 items"}
    assert healthy == [None, {}, 24]
    assert stopped == [20, place, 9]
    assert went_on == [20, place, 24]
    assert raised == [20, place, None]
    assert sentinel == [healthy, stopped]
    words = "epoch 0, batch 8, global step 8, batch of 3 items, loss nan."
    assert f"In the trainer's words: {words}" in done.stderr
    assert "lightning_fit.py:20:16" in (tmp_path / "nanscope.html").read_text()


def test_the_words_are_those_of_the_harm(tmp_path: Path) -> None:
    said = run(LATER, tmp_path).stderr
    assert "aten::log, phase forward, step 2" in said
    assert "The harm in the trainer's words: epoch 0, batch 5, global step 5, " in said


def test_transformers(tmp_path: Path) -> None:
    done = run(TRANSFORMERS, tmp_path)
    healthy, stopped, went_on, raised, *sentinel = answers(done)
    assert healthy == [None, {}, 16]
    assert stopped[0] == "aten::nll_loss_forward"
    place = {"epoch": 0.62, "batch": 5, "global step": 5, "batch of": "input_ids, labels"}
    assert stopped[1] == place
    assert stopped[2] == 6
    assert went_on == [*stopped[:2], 16]
    assert raised == [*stopped[:2], None]
    assert sentinel == [healthy, stopped]
    words = "epoch 0.62, batch 5, global step 5, batch of input_ids, labels, loss nan."
    assert f"In the trainer's words: {words}" in done.stderr
    assert "logging_nan_inf_filter is on" in done.stderr
    assert (tmp_path / "trained/nanscope.html").exists()


@pytest.mark.parametrize(
    "line",
    [
        [NANSCOPE, "run", "--bad-batch", "bad"],
        [sys.executable, "-m", "accelerate.commands.launch", "--cpu", "--num_processes", "1"]
        + ["--num_machines", "1", "--mixed_precision", "no", "--dynamo_backend", "no"]
        + ["--no_python", NANSCOPE, "run", "--bad-batch", "bad"],
    ],
    ids=["alone", "launched"],
)
def test_accelerate(tmp_path: Path, line: list) -> None:
    example = EXAMPLES / "accelerate_loop.py"
    command = [*line, "--json", "found.json", example]
    done = subprocess.run(
        command, cwd=tmp_path, env=WITH_PACKAGES, capture_output=True, text=True, timeout=600
    )
    assert done.returncode != 0
    finding = json.loads((tmp_path / "found.json").read_text())["findings"][0]
    assert finding["level"] == "error" and finding["cause"]["id"] == "division_by_zero"
    assert finding["origin"]["step"] == 8
    assert "loss 0." in done.stdout
    # Its loader is a batch ahead.
    assert json.loads((tmp_path / "bad/about.json").read_text())["batch"] == 8


def test_under_run_the_callback_leaves_all_to_it(tmp_path: Path) -> None:
    line = [NANSCOPE, "run", EXAMPLES / "lightning_fit.py"]
    done = subprocess.run(line, cwd=tmp_path, env=WITH_PACKAGES, capture_output=True, text=True)
    assert done.returncode == 3
    assert done.stderr.count("First Bad Operation\n") == 1
    assert "In the trainer's words" not in done.stderr
    assert not (tmp_path / "nanscope.html").exists()


def test_the_examples_run(tmp_path: Path) -> None:
    for name in ("lightning_fit.py", "transformers_trainer.py"):
        assert "In the trainer's words" in run((EXAMPLES / name).read_text(), tmp_path).stderr
