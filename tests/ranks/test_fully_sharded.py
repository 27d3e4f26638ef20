"""FSDP2 on the CPU: parameters are DTensors, of which each rank holds a shard.

A NaN is an error on the rank where it was made, with its line; no rank calls itself clean.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from watched import ENVIRONMENT, NANSCOPE, read_report

TRAIN = """
import sys, torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard
from torch.distributed.device_mesh import init_device_mesh

dist.init_process_group("gloo")
rank, last = dist.get_rank(), dist.get_rank() == dist.get_world_size() - 1
fault = sys.argv[1]
torch.manual_seed(0)
mesh = init_device_mesh("cpu", (dist.get_world_size(),))
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 4))
for layer in (model[0], model[2], model):
    fully_shard(layer, mesh=mesh)
opt = torch.optim.AdamW(model.parameters(), lr=0.01)
for step in range(4):
    x = torch.randn(8, 4)
    bad = step == 2 and last
    out = model(x)
    if fault == "forward" and bad:
        out = torch.log(out - 9)  # forward
    if fault == "backward" and bad:
        out = torch.sqrt(out - out.detach())  # backward
    opt.zero_grad()
    out.square().mean().backward()
    if fault == "gradient" and bad:
        model[0].weight.grad.to_local().div_(0)  # gradient
    opt.step()
    if fault == "shard" and bad:
        with torch.no_grad():
            model[2].weight.to_local().div_(0)  # shard
if fault == "last":
    with torch.no_grad():
        model[2].weight.to_local().div_(1 - last)  # last
dist.barrier()
dist.destroy_process_group()
"""
FAULTS = ("forward", "backward", "gradient", "shard", "last")


def run(folder: Path, ranks: int, fault: str, mode: str) -> list[dict]:
    """The report of each rank."""
    (folder / "train.py").write_text(TRAIN)
    watched = f"{NANSCOPE} run --keep-going --mode {mode} --json rank$RANK.json train.py {fault}"
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc-per-node", str(ranks), "--no-python", "bash", "-c", f"{watched} || true"]
    done = subprocess.run(
        command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stderr
    return [read_report((folder / f"rank{rank}.json").read_text()) for rank in range(ranks)]


def check(reports: list[dict], fault: str) -> None:
    line = 1 + TRAIN.splitlines().index(next(x for x in TRAIN.splitlines() if f"# {fault}" in x))
    origin = next(f for f in reports[-1]["findings"] if f["level"] == "error")["origin"]
    assert (origin["kind"], origin["site"]["line"]) == ("birth", line)
    # Whoever did not make it got it by a collective. After the last one nobody got anything.
    for report in reports[:-1]:
        assert report["verdict"] == "clean" if fault == "last" else report["verdict"] != "clean"
        # One rank tells of all of them, the one that made it first.
        tells_of_all = bool(report.get("ranks"))
        own = [f for f in report["findings"] if f["origin"]["kind"] == "birth"]
        assert tells_of_all or not own


@pytest.mark.slow
def test_a_nan_in_a_sharded_backward(tmp_path: Path) -> None:
    check(run(tmp_path, 2, "backward", "exact"), "backward")


@pytest.mark.release
@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_nan_in_a_sharded_model(tmp_path: Path, ranks: int, fault: str) -> None:
    check(run(tmp_path, ranks, fault, "exact"), fault)


@pytest.mark.release
@pytest.mark.parametrize("ranks", [1, 2])
def test_a_healthy_sharded_model(tmp_path: Path, ranks: int) -> None:
    for report in run(tmp_path, ranks, "none", "exact"):
        assert (report["verdict"], report["coverage"]["not_watched"]) == ("clean", [])


@pytest.mark.release
@pytest.mark.parametrize("fault", ["backward", "shard"])
def test_the_sentinel_of_a_sharded_model(tmp_path: Path, fault: str) -> None:
    """Ranks that are alive cannot be run again: that it is bad is said, the operation is not."""
    for report in run(tmp_path, 2, fault, "sentinel"):
        assert report["verdict"] != "clean"


@pytest.mark.release
def test_the_sentinel_of_a_healthy_sharded_model(tmp_path: Path) -> None:
    for report in run(tmp_path, 2, "none", "sentinel"):
        assert report["verdict"] == "clean"
