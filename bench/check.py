"""What `nanscope.check` of a healthy tensor costs, beside `torch.isfinite(x).all()`.

    bench/check.py [--largest N]

Both in one process, in turn, in wall time, best of several; torch with the threads it takes for
itself and with one, nanscope always with the calling thread alone.
"""

from __future__ import annotations

import argparse
import time

import torch

import nanscope


def timed(call, x, repeat: int) -> float:
    begin = time.perf_counter()
    for _ in range(repeat):
        call(x)
    return (time.perf_counter() - begin) / repeat


def by_hand(x: torch.Tensor) -> bool:
    return bool(torch.isfinite(x).all())


def without_asking(x: torch.Tensor) -> torch.Tensor:
    return torch.isfinite(x).all()


def best(x: torch.Tensor, threads: int) -> tuple[float, float, float]:
    """Of check, of isfinite().all(), and of that with its answer read."""
    calls = (nanscope.check, without_asking, by_hand)
    once = [timed(call, x, 1) for call in calls]
    repeat = max(1, min(2000, int(0.02 / max(once))))
    taken = [[], [], []]
    for _ in range(7):
        for i, call in enumerate(calls):
            torch.set_num_threads(1 if i == 0 else threads)
            taken[i].append(timed(call, x, repeat))
    return tuple(min(times) for times in taken)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--largest", type=int, default=10**8)
    largest = parser.parse_args().largest
    threads = torch.get_num_threads()
    print("| elements | check, us | isfinite().all(), us | ratio | 1 thread, us | bool(...), us |")
    print("|---|---|---|---|---|---|")
    size = 1
    while size <= largest:
        x = torch.randn(size)
        check, isfinite, asked = best(x, threads)
        _, single, _ = best(x, 1)
        print(
            f"| {size:,} | {check * 1e6:.1f} | {isfinite * 1e6:.1f} | {check / isfinite:.2f} "
            f"| {single * 1e6:.1f} | {asked * 1e6:.1f} |",
            flush=True,
        )
        size *= 10


if __name__ == "__main__":
    main()
