"""What watching costs: whole training steps against plain PyTorch and against its rivals.

    bench/overhead.py [--seconds S] [--only WORD] [--json FILE]

All modes run in one process, in turn: plain, nanscope, plain, nanscope, plain, a rival, ... Each
sample is a ratio to the mean of the plain runs before and after it, in CPU time; the table shows
the median. "plain" has nanscope's wrappers installed and switched off. The share is the time
between entering and leaving our own code over the time of all the rest, by the time-stamp counter
and summed over many steps: it misses what we do to the caches, and most of the noise of a busy
machine.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import time
from pathlib import Path

# Read when torch is loaded: a thread that waits for its partner must not spin, for its time counts.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import rivals
import torch
import workloads

from nanscope.moments import attach
from nanscope.run.settings import Settings

MOST_SAMPLES = 60
THRICE = ("nanscope",) * 3
PARTS = ("begin", "return", "moment", "nodes", "outputs", "inputs", "hit", "aside", "history")
WHOLE = PARTS[:3]  # the others are parts of these


def timed(step, repeat: int) -> float:
    begin = time.process_time()
    for _ in range(repeat):
        step()
    return time.process_time() - begin


def ratios_of(step, repeat: int, seconds: float, others: dict, adapter) -> dict:
    """Interleaved; nanscope three times for each rival once."""
    modes = {"nanscope": step} | {name: rival(step) for name, rival in others.items()}
    for name, run in modes.items():
        adapter.watch(name == "nanscope")
        timed(run, 2 * repeat)
    adapter.watch(False)
    order = itertools.cycle([x for other in others for x in (*THRICE, other)] or THRICE)
    ratios, plain = {name: [] for name in modes}, [timed(step, repeat)]
    end = time.monotonic() + seconds
    while (time.monotonic() < end and len(ratios["nanscope"]) < MOST_SAMPLES) or not all(
        ratios.values()
    ):
        name = next(order)
        adapter.watch(name == "nanscope")
        took = timed(modes[name], repeat)
        adapter.watch(False)
        plain.append(timed(step, repeat))
        ratios[name].append(took / ((plain[-1] + plain[-2]) / 2))
    measured = {name: round(statistics.median(r), 4) for name, r in ratios.items() if r}
    measured["samples"] = len(ratios["nanscope"])
    measured["plain_ms"] = round(1000 * statistics.median(plain) / repeat, 2)
    return measured


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


def share_of(step, plain_ms: float, seconds: float, adapter) -> dict:
    whole, ops = parts_of(step, 1, seconds, adapter)
    parts, _ = parts_of(step, 2, seconds / 2, adapter)
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
        "parts_us": {name: round(1000 * plain_ms * part, 1) for name, part in parts.items()},
    }


def measure(make, repeat: int, seconds: float, adapter) -> dict:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    step = make()
    measured = ratios_of(step, repeat, 0.6 * seconds, rivals.ALL, adapter)
    measured |= share_of(step, measured["plain_ms"], 0.15 * seconds, adapter)
    torch.set_num_threads(2)
    both = ratios_of(step, repeat, 0.25 * seconds, {}, adapter)
    torch.set_num_threads(1)
    measured["two_threads"] = {key: both[key] for key in ("nanscope", "samples", "plain_ms")}
    return measured


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60, help="per workload")
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    adapter = attach.load(torch)
    assert not isinstance(adapter, str), adapter
    attach.connect_exact(torch, adapter, Settings(on_error="go_on"))
    adapter.begin(adapter.SessionOptions(on_error="go_on"))
    measured = {}
    for name, (make, repeat, goal) in workloads.ALL.items():
        if arguments.only not in name:
            continue
        measured[name] = {"goal": goal} | measure(make, repeat, arguments.seconds, adapter)
        print(name, json.dumps(measured[name]), f"load {os.getloadavg()[0]:.1f}", flush=True)
        if arguments.json:
            arguments.json.write_text(json.dumps(measured, indent=1) + "\n")


if __name__ == "__main__":
    main()
