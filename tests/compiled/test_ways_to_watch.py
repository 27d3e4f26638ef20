"""Compiled programs in mode sentinel, in a block, and under `fix`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from test_compiled import HERE, expectations

from watched import ENVIRONMENT, NANSCOPE, watch

pytestmark = pytest.mark.release

TRAINING = """
import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), 1e-3)


@torch.compile
def loss_of(x, factor):
    return torch.sqrt(((model(x) * factor) ** 2).sum())


for step in range(12):
    loss = loss_of(torch.randn(16, 8), torch.tensor(0.0 if step == {bad} else 1.0))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("weights", model[0].weight.double().sum().item().hex())
"""
LINE = 11


def assert_is_the_root(error: dict) -> None:
    origin = error["origin"]
    assert (origin["op"], origin["phase"]) == ("aten::div", "backward")
    assert origin["site"]["line"] == LINE
    assert origin["step"] == 9
    assert error["cause"]["id"] == "sqrt_gradient_at_zero"


def test_a_sentinel_replays_compiled_steps(tmp_path: Path) -> None:
    seen = watch(TRAINING.format(bad=9), tmp_path, "--mode", "sentinel")
    assert "no snapshot" not in seen.err
    assert_is_the_root(seen.error)
    assert seen.error["cause"]["certainty"] == "certain"


def test_a_sentinel_is_silent(tmp_path: Path) -> None:
    seen = watch(TRAINING.format(bad=-1), tmp_path, "--mode", "sentinel")
    assert seen.status == 0 and seen.first("error", "warning") is None, seen.err
    assert "no snapshot" not in seen.err
    exact = watch(TRAINING.format(bad=-1), tmp_path)
    assert exact.out == seen.out
    assert exact.report["verdict"] == "clean"


@pytest.mark.parametrize("mode", ["exact", "sentinel"])
def test_a_block(mode: str, tmp_path: Path) -> None:
    body = TRAINING.format(bad=9).replace("\n", "\n    ")
    (tmp_path / "block.py").write_text(
        f"import nanscope, json, sys\nwith nanscope.watch(mode={mode!r}, on_find='report') as seen:"
        f"{body}\njson.dump([f.to_json() for f in seen.findings], sys.stderr)\n"
    )
    command = [Path(NANSCOPE).with_name("python"), "block.py"]
    done = subprocess.run(
        command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, timeout=600
    )
    findings = json.loads(done.stderr.splitlines()[-1])
    assert_is_the_root(
        next(
            {**f, "origin": {**f["origin"], "site": {"line": f["origin"]["site"]["line"] - 1}}}
            for f in findings
            if f["level"] == "error"
        )
    )


def fixed(program: Path, folder: Path) -> dict:
    """What `nanscope fix` makes of it."""
    report = folder / "fix.json"
    (folder / program.name).write_text(program.read_text())
    command = [NANSCOPE, "fix", "--yes", "--json", report, program.name]
    done = subprocess.run(
        command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=1800
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(report.read_text())["findings"]
    return next(finding for finding in found if finding["level"] == "error")


@pytest.mark.parametrize(
    "name", ["log_in_a_loss", "sqrt_gradient_in_a_model", "only_when_compiled", "custom_function"]
)
def test_fix(name: str, tmp_path: Path) -> None:
    program = HERE / "cases" / f"{name}.py"
    error = fixed(program, tmp_path)
    assert error["cause"]["id"] in expectations(program)["cause"]
    assert error["verification"]["status"] == "verified", error["verification"]
    assert ("emulate_precision_casts" in error["fix"]["diff"]) == (name == "only_when_compiled")
