"""What `--mode sentinel` costs: the looks of a step, and the snapshots between them.

    bench/sentinel.py [--seconds S] [--threads N] [--only WORD]

Whole steps cannot tell a cost of a thousandth from the noise of a machine, so that it is measured
by itself: after each training step, with the caches as the step leaves them, the looks of a step
are done once more and timed, in CPU time of this thread. A snapshot is timed as a fork, and as
what the three steps after it take longer than those before it, for the memory they copy.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time

import torch
import workloads

from nanscope.attach import attach_sentinel
from nanscope.sentinel.looks import Sentinel
from nanscope.settings import Settings


class NoHost:
    """Nothing goes bad here."""


def optimizer_of(step) -> torch.optim.Optimizer:
    return next(
        cell.cell_contents
        for cell in step.__closure__
        if isinstance(cell.cell_contents, torch.optim.Optimizer)
    )


def quickest(act, times: int = 2000) -> float:
    """CPU seconds of one call, the best of several rounds."""
    rounds = []
    for _ in range(9):
        begin = time.thread_time_ns()
        for _ in range(times):
            act()
        rounds.append((time.thread_time_ns() - begin) / times / 1e9)
    return min(rounds)


LEAF = torch.ones((), requires_grad=True)


def small_backward() -> None:
    (LEAF * 1).backward()


def measure(make, seconds: float, adapter, backward: float) -> tuple[float, float]:
    """CPU seconds of a step, and of its looks; what is behind a step is looked at in one of 8."""
    torch.manual_seed(0)
    step = make()
    optimizer = optimizer_of(step)
    for _ in range(10):
        step()
    steps, before, behind = [], [], {True: [], False: []}
    end = time.monotonic() + seconds
    while time.monotonic() < end or len(steps) < 40:
        steps.append(timed(step))
        one = adapter.sentinel_counts()[2] % 8 == 0
        begin = time.thread_time_ns()
        adapter.step_pre_hook(optimizer, (), {})
        between = time.thread_time_ns()
        adapter.step_post_hook(optimizer, (), {})
        behind[one].append(time.thread_time_ns() - between)
        before.append(between - begin)
        adapter.step_pre_hook(optimizer, (), {})  # so that every step's turn comes
        adapter.step_post_hook(optimizer, (), {})
    looks = typical(before) + (typical(behind[True]) + 7 * typical(behind[False])) / 8
    return typical(steps), backward + looks / 1e9


def typical(samples: list) -> float:
    """The 20th percentile: what others do to the caches of a busy machine is not in it."""
    return statistics.quantiles(samples, n=5)[0]


def cost_of_snapshot(make, sentinel: Sentinel) -> tuple[float, float]:
    """Seconds of a fork, and of the copying in the steps after it."""
    torch.manual_seed(0)
    step = make()
    for _ in range(5):
        step()
    forks, copies = [], []
    for _ in range(5):
        before = min(timed(step) for _ in range(3))
        begin = time.monotonic()
        sentinel.due()
        forks.append(time.monotonic() - begin)
        copies.append(sum(timed(step) for _ in range(3)) - 3 * before)
        sentinel.snapshots.end_all()
    return statistics.median(forks), max(0.0, statistics.median(copies))


def timed(step) -> float:
    begin = time.process_time_ns()
    step()
    return (time.process_time_ns() - begin) / 1e9


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=20, help="per workload")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    adapter = attach_sentinel(torch, Settings(), lambda _: None, lambda _: None)
    assert not isinstance(adapter, str), adapter
    sentinel = Sentinel(adapter, NoHost(), 1e9, quiet=False)
    backward = -quickest(small_backward)
    sentinel.begin()
    backward = max(0.0, backward + quickest(small_backward))
    print(
        "| training step | plain, ms | looks, us | looks | fork, ms | copying, ms | every | all |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name, (make, _) in workloads.ALL.items():
        if arguments.only not in name:
            continue
        gc.collect()
        step, looks = measure(make, arguments.seconds, adapter, backward)
        fork, copying = cost_of_snapshot(make, sentinel)
        sentinel.every = 0
        pause = sentinel._pause(fork)
        sentinel.every = 1e9
        share = looks / step + (fork + copying) / pause
        print(
            f"| {name} | {1e3 * step:.1f} | {1e6 * looks:.0f} | {1 + looks / step:.4f} "
            f"| {1e3 * fork:.0f} | {1e3 * copying:.0f} | {pause:.0f} s | {1 + share:.4f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
