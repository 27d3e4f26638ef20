"""Memory and time over many steps of a small model with a causal mask in every layer.

    python bench/memory.py [STEPS [LAYERS]]          plain PyTorch
    nanscope run bench/memory.py [STEPS [LAYERS]]    watched

Prints the resident memory of its own (not the pages of libraries) and the CPU time of a step ten
times. Flat means: the last are no larger than the third.
"""

from __future__ import annotations

import ctypes
import sys
import time

import torch
import torch.nn as nn

PR_SET_THP_DISABLE = 41  # linux/prctl.h


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(self.norm(x)).chunk(3, dim=-1)
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        future = torch.ones_like(scores, dtype=torch.bool).triu(1)
        return x + self.out(scores.masked_fill(future, float("-inf")).softmax(-1) @ v)


def resident_kb() -> int:
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))


def refuse_huge_pages() -> None:
    """The kernel may join pages behind our back: two megabytes more that nobody asked for."""
    ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)


def main(steps: int = 20_000, layers: int = 4) -> None:
    refuse_huge_pages()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = nn.Sequential(*(Block(16) for _ in range(layers)), nn.Linear(16, 8))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    began = time.process_time()
    for step in range(1, steps + 1):
        x = torch.randn(4, 8, 16)
        loss = nn.functional.cross_entropy(model(x).flatten(0, 1), torch.randint(0, 8, (32,)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % (steps // 10) == 0:
            us = 1e6 * (time.process_time() - began) / (steps // 10)
            print(step, resident_kb(), "kB,", f"{us:.0f} us a step", flush=True)
            began = time.process_time()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
