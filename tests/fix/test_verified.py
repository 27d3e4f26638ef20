"""Small programs whose patch is verified, one for each rewrite that only a run can judge."""

from __future__ import annotations

import os
import subprocess
import sysconfig
from pathlib import Path

import pytest

from watched import read_report

pytestmark = pytest.mark.slow

NANSCOPE = Path(sysconfig.get_path("scripts")) / "nanscope"
TRAIN = """\
import math, torch
import torch.nn.functional as F
torch.manual_seed(0)
model = torch.nn.Linear(4, 4)
opt = torch.optim.SGD(model.parameters(), lr=1e-3)
y = torch.tensor([0.0, 1.0, 0.0, 1.0]).expand(6, 4)
for step in range(4):
    large = 1000.0 if step == 2 else 1.0
    z = model(torch.rand(6, 4))
    {lines}
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
PROGRAMS = {
    "binary_cross_entropy_with_logits": (
        "z = z * large",
        "p = torch.sigmoid(z)",
        "loss = -(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()",
    ),
    "logsigmoid": (
        "p = torch.sigmoid(-z.abs() * large)",
        "loss = -torch.log(p).mean() / large",
    ),
    "expm1": (
        "rate = F.softplus(z) / large**3",
        "loss = -torch.log(1 - torch.exp(-rate)).mean()",
    ),
    "log_softmax": (
        "p = torch.softmax(model(torch.rand(6, 4)) * large, dim=1)",
        "loss = -torch.log(p[torch.arange(6), 0]).mean() / large",
    ),
    "clamp_before_log": (  # below the least healthy value
        "p = torch.tensor([0.7, 1e-18, 0.2, 0.0 if step == 2 else 0.1])",
        "loss = (p * (p.log() - z.log_softmax(1))).sum()",
    ),
    "clamp_before_exp": (
        "logvar = z * large",
        "loss = ((0.5 * logvar).exp() + logvar.exp()).mean() / large",
    ),
    "softplus": ("loss = torch.log(1 + torch.exp(z.abs() * large)).mean() / large",),
    "scale_before_product": (
        "q = (z * min(large, 300.0)).half()",
        "scores = q @ q.t() / 16",
        "loss = scores.float().mean() * 1e-6",
    ),
    "without_autocast": (
        "with torch.autocast('cpu', dtype=torch.float16):",
        "    h = (z * large) @ (z.t() * large)",
        "loss = h.float().mean() * 1e-9",
    ),
    "separate_values": (
        "a = torch.diag(z.mean(0)) if step != 2 else torch.eye(4) * z.mean()",
        "w, v = torch.linalg.eigh(a)",
        "loss = (w * v[0]).sum()",
    ),
    "guard_argument": (
        "import metrics",
        "loss = metrics.entropy(F.relu(z) if step == 2 else z.abs())",
    ),
}
MEAN = 'import torch\nn = torch.zeros(())\nprint(f"mean {n.exp() / n:.2f}")\n'
WHOLE = {"zero_for_zero_divisor": MEAN}
LIBRARY = "import torch\ndef entropy(p):\n    return -(torch.log(p)).mean()\n"


@pytest.mark.parametrize("kind", [*PROGRAMS, *WHOLE])
def test_it_is_verified(tmp_path, kind):
    lines = "\n    ".join(PROGRAMS.get(kind, ()))
    (tmp_path / "train.py").write_text(WHOLE.get(kind, TRAIN.format(lines=lines)))
    installed = tmp_path / "lib" / "python3" / "site-packages"
    installed.mkdir(parents=True)
    (installed / "metrics.py").write_text(LIBRARY)
    done = subprocess.run(
        [NANSCOPE, "fix", "--yes", "-q", "--max-time", "100000", "--json", "-", "train.py"],
        cwd=tmp_path, capture_output=True, text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(installed)},
    )  # fmt: skip
    finding = read_report(done.stdout[done.stdout.index("{") :])["findings"][0]
    assert finding["verification"]["status"] == "verified", finding["verification"]
    assert finding["fix"]["id"] == kind, finding["fix"]
    assert done.returncode == 0
