"""No cache of the compiler hides a region: whoever filled it, and however far it reaches."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from watched import ENVIRONMENT, NANSCOPE, read_report

pytestmark = pytest.mark.release

PROGRAM = """
import torch
from torch._dynamo.utils import counters

torch.manual_seed(0)
net = torch.nn.Linear(16, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

@torch.compile
def loss_of(x, y):
    p = torch.sigmoid(net(x) * 60)
    return -(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()

loss = loss_of(torch.randn(64, 16), (torch.rand(64, 1) > 0.5).float())
print(counters["aot_autograd"]["autograd_cache_hit"], counters["inductor"]["fxgraph_cache_hit"])
optimizer.zero_grad()
loss.backward()
optimizer.step()
"""
LINE = 12


def run(command: list, folder: Path, **environment: str) -> subprocess.CompletedProcess:
    own = {"TORCHINDUCTOR_CACHE_DIR": os.fspath(folder / "cache"), **environment}
    return subprocess.run(
        [*command, "program.py"],
        cwd=folder,
        env={**ENVIRONMENT, **own},
        capture_output=True,
        text=True,
        timeout=600,
    )


def watched_hits(folder: Path, **environment: str) -> list[int]:
    """Hits of AOTAutograd's cache and of inductor's, in a run whose finding is right."""
    done = run([NANSCOPE, "run", "--json", "finding.json"], folder, **environment)
    report = read_report((folder / "finding.json").read_text())
    assert done.returncode == 3, done.stderr
    error = next(f for f in report["findings"] if f["level"] == "error")
    assert (error["origin"]["op"], error["origin"]["site"]["line"]) == ("aten::log", LINE)
    assert (error["cause"]["id"], error["cause"]["certainty"]) == ("log_of_zero", "certain")
    assert report["coverage"]["not_watched"] == [], json.dumps(report["coverage"])
    return [int(word) for word in done.stdout.split()]


def test_caches_that_nanscope_filled(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    assert watched_hits(tmp_path) == [0, 0]
    of_autograd, _ = watched_hits(tmp_path)
    assert of_autograd == 1
    of_autograd, of_inductor = watched_hits(tmp_path, TORCHINDUCTOR_AUTOGRAD_CACHE="0")
    assert (of_autograd, of_inductor > 0) == (0, True)


def test_caches_that_were_filled_without_it(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    plain = run([sys.executable], tmp_path)
    assert plain.returncode == 0, plain.stderr
    of_autograd, _ = watched_hits(tmp_path)
    assert of_autograd == 1
    again = run([sys.executable], tmp_path)  # and what nanscope left is of use without it
    assert again.stdout.split()[0] == "1", again.stdout
