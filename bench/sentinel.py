"""What `--mode sentinel` costs: the looks of a step, and the snapshots between them.

    bench/sentinel.py [--seconds S] [--only WORD] [--json FILE]

Whole steps cannot tell a cost of a thousandth from the noise of a machine. So the looks are
measured as bench/split.py measures its share: the time between entering and leaving our own
code over the time of all the rest, by the time-stamp counter, summed over many steps. A snapshot
is timed as a fork, and as what the steps after it take longer than those before it, for the
memory they copy; its share is that over the pause between two snapshots.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import time
from pathlib import Path

import torch
import workloads

from nanscope.moments import attach
from nanscope.run.settings import Settings
from nanscope.sentinel.looks import Sentinel

ROUND = 8  # steps: what is behind a step is looked at once in so many
STEPS_AFTER = 3  # in which the memory is copied
SNAPSHOTS = 5


class NoHost:
    """Nothing goes bad here."""


def cost_of_looks(step, seconds: float, adapter) -> dict:
    for _ in range(2 * ROUND):
        step()
    ours, total, steps = 0, 0, 0
    began, first = time.monotonic(), adapter.ticks()[0]
    while not steps or time.monotonic() < began + seconds:
        for _ in range(ROUND):
            adapter.time_parts(1)
            begin = adapter.ticks()[0]
            step()
            now, spent, _ = adapter.ticks()
            total += now - begin
            ours += sum(spent)
        steps += ROUND
    adapter.time_parts(0)
    ticks_per_second = (adapter.ticks()[0] - first) / (time.monotonic() - began)
    return {
        "steps": steps,
        "plain_ms": round(1e3 * (total - ours) / ticks_per_second / steps, 3),
        "looks_us": round(1e6 * ours / ticks_per_second / steps, 1),
        "looks": round(ours / (total - ours), 5),
    }


def cost_of_snapshots(step, sentinel: Sentinel) -> dict:
    forks, copies = [], []
    for _ in range(SNAPSHOTS):
        before = sum(timed(step) for _ in range(STEPS_AFTER))
        sentinel.due_at_once()
        forks.append(timed(sentinel.due))
        copies.append(sum(timed(step) for _ in range(STEPS_AFTER)) - before)
        sentinel.snapshots.end_all()
    fork, copying = statistics.median(forks), max(0.0, statistics.median(copies))
    sentinel.every = 0
    pause = sentinel.pause_after(fork)
    sentinel.every = 1e9
    return {
        "fork_ms": round(1e3 * fork, 1),
        "copying_ms": round(1e3 * copying, 1),
        "pause_s": round(pause),
        "snapshots": round((fork + copying) / pause, 5),
    }


def timed(act) -> float:
    begin = time.monotonic()
    act()
    return time.monotonic() - begin


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=12, help="per workload")
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    adapter = attach.load(torch)
    attach.connect_sentinel(torch, adapter, Settings(), lambda _: None, lambda _: None)
    assert not isinstance(adapter, str), adapter
    sentinel = Sentinel(adapter, NoHost(), 1e9, quiet=False)
    sentinel.begin()
    measured = {}
    for name, workload in workloads.ALL.items():
        if arguments.only not in name:
            continue
        gc.collect()
        torch.manual_seed(0)
        step = workload.make()
        measured[name] = cost_of_looks(step, arguments.seconds, adapter)
        measured[name] |= cost_of_snapshots(step, sentinel)
        measured[name]["share"] = round(measured[name]["looks"] + measured[name]["snapshots"], 5)
        measured[name]["load"] = round(os.getloadavg()[0], 1)
        print(name, json.dumps(measured[name]), flush=True)
        if arguments.json:
            arguments.json.write_text(json.dumps(measured, indent=1) + "\n")


if __name__ == "__main__":
    main()
