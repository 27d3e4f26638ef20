"""What watching costs a training on many ranks: DDP over gloo, plain and under nanscope.

    python bench/ranks.py --ranks 2 4 --rounds 5 --json build/bench/ranks.json

Every round trains once plain and once watched, one after the other, so that both meet the same
machine. The step is clocked inside the program, on rank 0; the ratio is that of the medians over
all rounds. Each rank has one thread: with more ranks than cores both forms wait alike.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

WARM_UP = 10


def train(steps: int, out: str) -> None:
    import torch
    import torch.distributed as dist
    from torch import nn
    from torch.nn.parallel import DistributedDataParallel

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(128, 4, 512, batch_first=True, dropout=0.0)
    model = DistributedDataParallel(nn.TransformerEncoder(layer, 3, enable_nested_tensor=False))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    numbers = torch.Generator().manual_seed(rank)
    times = []
    for _ in range(WARM_UP + steps):
        x = torch.randn(8, 32, 128, generator=numbers)
        began = time.perf_counter()
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
        times.append(time.perf_counter() - began)
    if rank == 0:
        Path(out).write_text(json.dumps(times[WARM_UP:]))
    dist.barrier()
    dist.destroy_process_group()


def clocked(ranks: int, steps: int, watched: bool) -> list[float]:
    """The steps of one run, in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "times.json")
        program = [__file__, "--train", out, "--steps", str(steps)]
        launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks)]
        command = [sys.executable, *launcher, *program]
        if watched:
            nanscope = os.path.join(sysconfig.get_path("scripts"), "nanscope")
            command = [nanscope, "run", "-q", "--nproc", str(ranks), *program]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        subprocess.run(command, check=True, cwd=folder, env=environment, stderr=subprocess.DEVNULL)
        return json.loads(Path(out).read_text())


def measured(ranks: int, steps: int, rounds: int) -> dict[str, float]:
    plain: list[float] = []
    watched: list[float] = []
    for _ in range(rounds):
        plain += clocked(ranks, steps, watched=False)
        watched += clocked(ranks, steps, watched=True)
    before, after = statistics.median(plain), statistics.median(watched)
    row = {"ranks": ranks, "plain_ms": 1e3 * before, "watched_ms": 1e3 * after}
    return {**row, "ratio": after / before}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", default="")
    parser.add_argument("--train", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.train:
        train(options.steps, options.train)
        return
    rows = [measured(ranks, options.steps, options.rounds) for ranks in options.ranks]
    print("ranks   plain    nanscope   ratio")
    for row in rows:
        print(
            f"{row['ranks']:5.0f} {row['plain_ms']:7.1f} ms {row['watched_ms']:7.1f} ms "
            f"{row['ratio']:6.3f}"
        )
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
