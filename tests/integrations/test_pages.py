"""What the pages of the integrations show is run as it stands there: code, magics, commands."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from installed_packages import WITH_PACKAGES
from test_dashboards import events_in
from test_jupyter import errors, executed, reports, write_notebook

from watched import NANSCOPE, ROOT

PAGES = ROOT / "docs" / "integrations"
ENVIRONMENT = {**WITH_PACKAGES, "PATH": f"{NANSCOPE.parent}{os.pathsep}{WITH_PACKAGES['PATH']}"}
TRAIN = """
import torch

def train(probabilities):
    p = torch.tensor(probabilities, requires_grad=True)
    optimizer = torch.optim.SGD([p], 0.0)
    torch.log(p).sum().backward()
    optimizer.step()
"""
BAD = TRAIN + "train([0.5, 0.0])\n"


def text_of(page: str) -> str:
    return (PAGES / page).read_text()


def code_of(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", text_of(page), re.DOTALL)


def run(folder: Path, *words: object, status: int = 0) -> str:
    done = subprocess.run(words, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_pytest(tmp_path: Path) -> None:
    (code,) = code_of("pytest.md")
    (tmp_path / "test_training.py").write_text(f"{TRAIN}\n{code}")
    (command,) = re.findall(r"^    (pytest .*)$", text_of("pytest.md"), re.MULTILINE)
    said = run(tmp_path, sys.executable, "-m", *command.split())
    assert "2 tests watched; in 0 a NaN or Inf did harm, in 1 as expected." in said


def test_dashboards(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(BAD)
    commands = re.findall(r"^    (nanscope run .* train\.py)$", text_of("dashboards.md"), re.M)
    assert commands[0] == "nanscope run --notify WHERE train.py" and len(commands) == 2
    run(tmp_path, *commands[1].split(), status=3)
    (folder,) = {path.parent for path in tmp_path.rglob("*.nanscope")}
    seen = events_in(folder)
    (capture,) = tmp_path.glob("*.nsc")
    (code,) = code_of("dashboards.md")
    (named,) = re.findall(r'"(nanscope-train\.\d+\.nsc)"', code)
    capture.rename(tmp_path / named)
    for path in folder.iterdir():
        path.unlink()
    run(tmp_path, sys.executable, "-c", code)
    assert events_in(folder)["text"] == seen["text"]


def test_jupyter(tmp_path: Path) -> None:
    load, cell, line = re.findall(r"^    (%.*)$", text_of("jupyter.md"), re.MULTILINE)
    setup = f"{load}\n{TRAIN}\nmodel = [0.5, 0.0]"
    notebook = write_notebook(tmp_path / "a.ipynb", [setup, f"{cell}\ntrain(model)", line])
    _, whole, single = executed(notebook)
    assert errors(whole) == []
    assert "aten::log made -inf" in reports(whole)[0]["text/plain"]
    assert "<!doctype html>" in (tmp_path / "nan.html").read_text().lower()
    assert errors(single)[0] == "NonFiniteError"
    assert "aten::log made -inf" in reports(single)[0]["text/plain"]


def test_editors(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(BAD)
    text = " ".join(text_of("editors.md").split())
    commands = [c.split() for c in re.findall(r"`(nanscope r[^`:]* [^`]*)`", text)]
    assert [words[1] for words in commands] == ["run", "report", "report"]
    run(tmp_path, *commands[0], status=3)
    assert (tmp_path / "nan.html").exists()
    (capture,) = tmp_path.glob("*.nsc")
    capture.rename(tmp_path / "nanscope-train.4242.nsc")
    answers = []
    for words in commands[1:]:
        named = ["nanscope-train.4242.nsc" if word == "CAPTURE" else word for word in words]
        answers.append(run(tmp_path, *named))
    place = json.loads(answers[0])["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place["region"]["startLine"] == 7
    assert answers[1].startswith("::error file=train.py,line=7")


def test_the_command_of_an_agent(tmp_path: Path) -> None:
    text = (ROOT / "docs/agent-command.md").read_text()
    lines = re.findall(r"^    (.*)$", text, re.MULTILINE)
    run(tmp_path, "bash", "-e", "-c", "\n".join(lines))
    written = (tmp_path / ".claude/commands/nan-debug.md").read_text()
    assert written.startswith("---\ndescription: ")


OF_LIGHTNING = """
import torch
from PACKAGE import LightningModule, Trainer

class Logarithm(LightningModule):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(2))

    def training_step(self, batch, index):
        return (self.w * torch.log(batch)).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)

model = Logarithm()
loader = torch.utils.data.DataLoader(torch.eye(2), batch_size=1)
"""
OF_TRANSFORMERS = """
import torch
from transformers import BertConfig, BertForTokenClassification, Trainer, TrainingArguments

model = BertForTokenClassification(BertConfig(
    vocab_size=64, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
    intermediate_size=32, num_labels=2,
))
arguments = TrainingArguments("trained", report_to="none", save_strategy="no", use_cpu=True)
words = torch.randint(5, 60, (8, 12))
dataset = [{"input_ids": row, "labels": torch.full_like(row, -100)} for row in words]
"""


@pytest.mark.slow
@pytest.mark.parametrize("package", ["lightning", "pytorch_lightning"])
def test_lightning(tmp_path: Path, package: str) -> None:
    code, _ = code_of("trainers.md")
    program = OF_LIGHTNING.replace("PACKAGE", package) + code
    said = run(tmp_path, sys.executable, "-c", program)
    assert "In the trainer's words: epoch 0, batch 0, global step 0, batch of Tensor" in said
    (page,) = tmp_path.rglob("nanscope.html")
    assert "lightning_logs" in str(page) or page.parent == tmp_path


@pytest.mark.slow
def test_transformers(tmp_path: Path) -> None:
    _, code = code_of("trainers.md")
    said = run(tmp_path, sys.executable, "-c", OF_TRANSFORMERS + code)
    assert "In the trainer's words: epoch 0, batch 0, global step 0, batch of input_ids" in said
    assert (tmp_path / "trained/nanscope.html").exists()
