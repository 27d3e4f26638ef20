"""Where the time of a watched step goes: inside our own code, by parts, in one process.

    bench/split.py [--seconds S] [--only WORD] [--json FILE]

The share is the time between entering and leaving our own code over the time of all the rest, by
the time-stamp counter and summed over many steps: it misses what we do to the caches, what stands
around our code, and most of the noise of a busy machine. What a user would measure is measured by
bench/overhead.py; this explains it.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

# Read when torch is loaded: a thread that waits for its partner must not spin, for its time counts.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import torch
import workloads

from nanscope.moments import attach
from nanscope.run.settings import Settings

PARTS = ("begin", "return", "moment", "nodes", "outputs", "inputs", "hit", "aside", "history")
WHOLE = PARTS[:3]  # the others are parts of these


def parts_of(step, level: int, seconds: float, adapter) -> tuple[dict[str, float], int]:
    """Each part of our own time over the time of the program itself, and the calls in a step.

    All in ticks of the wall clock: whoever takes the processor away takes it from both alike.
    """
    adapter.watch(True)
    spent, total, calls = [0] * len(PARTS), 0, 0
    steps, end = 0, time.monotonic() + seconds
    while steps < 5 or time.monotonic() < end:
        adapter.time_parts(level)
        begin = adapter.ticks()[0]
        step()
        now, ticks, times = adapter.ticks()
        steps += 1
        if steps <= 2:
            continue  # the watch was off: nothing is known of what the steps before wrote
        total += now - begin
        spent = [a + b for a, b in zip(spent, ticks, strict=True)]
        calls = times[1]
    adapter.time_parts(0)
    adapter.watch(False)
    ours = sum(spent[PARTS.index(name)] for name in WHOLE)
    return {name: t / (total - ours) for name, t in zip(PARTS, spent, strict=True)}, calls


def measure(workload: workloads.Workload, seconds: float, adapter) -> dict:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    step = workload.make()
    for _ in range(3 * workload.repeat):
        step()
    began, repeat = time.perf_counter(), workload.repeat
    for _ in range(repeat):
        step()
    plain_us = 1e6 * (time.perf_counter() - began) / repeat
    whole, ops = parts_of(step, 1, 0.6 * seconds, adapter)
    parts, _ = parts_of(step, 2, 0.4 * seconds, adapter)
    adapter.watch(True)
    before = adapter.counters()
    step()
    after = adapter.counters()
    adapter.watch(False)
    parts |= {name: whole[name] for name in WHOLE}
    return {
        "share": round(sum(whole[name] for name in WHOLE), 4),
        "ops": ops,
        "scanned_mb": round((after[1] - before[1]) / 1e6, 2),
        "parts_us": {name: round(plain_us * part, 1) for name, part in parts.items()},
        "load": round(os.getloadavg()[0], 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=15, help="per workload")
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    adapter = attach.load(torch)
    assert not isinstance(adapter, str), adapter
    attach.connect_exact(torch, adapter, Settings(on_error="go_on"))
    adapter.begin(adapter.SessionOptions(on_error="go_on"))
    measured = {}
    for name, workload in workloads.ALL.items():
        if arguments.only not in name:
            continue
        measured[name] = measure(workload, arguments.seconds, adapter)
        print(name, json.dumps(measured[name]), flush=True)
        if arguments.json:
            arguments.json.write_text(json.dumps(measured, indent=1) + "\n")


if __name__ == "__main__":
    main()
