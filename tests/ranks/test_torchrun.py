"""Ranks that train together: the one that made the NaN ends with 3, and names it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from watched import ENVIRONMENT, NANSCOPE, read_capture

TRAIN = """
import os, torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = DistributedDataParallel(torch.nn.Linear(4, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(5):
    x = torch.randn(8, 4)
    target = -1.0 if rank == 1 and step == 2 else 1.0
    opt.zero_grad()
    weight = torch.sqrt(torch.tensor(target))
    (model(x) * weight).mean().backward()
    opt.step()
    print("rank", rank, "step", step, flush=True)
print("rank", rank, "finished", flush=True)
"""


@pytest.mark.slow
def test_a_nan_on_one_rank_of_two(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    launcher += ["--nproc-per-node", "2", "--no-python", str(NANSCOPE), "run", "train.py"]
    done = subprocess.run(
        launcher, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, timeout=900
    )
    assert done.returncode != 0
    assert "step 1" in done.stdout and "finished" not in done.stdout
    assert re.search(r"exitcode *: 3 ", done.stderr), done.stderr

    by_rank = {}
    for capture in tmp_path.glob("nanscope-train.*.nsc"):
        [finding] = [f for f in read_capture(capture) if f["level"] == "error"]
        by_rank[finding["origin"]["rank"]] = finding["origin"]
    assert by_rank[1]["op"] == "aten::sqrt"
    assert by_rank[1]["site"]["code"] == "torch.sqrt(torch.tensor(target))"
    assert by_rank[1]["step"] == 2
    # Rank 0 met the NaN in what was sent to it, or was ended before: it made none.
    assert by_rank.get(0, {"kind": "imported"})["kind"] != "birth"
    # Whatever it says of itself is of what was watched.
    assert "rank 0" not in done.stderr.replace("(rank: 0)", "").lower() or 0 in by_rank
