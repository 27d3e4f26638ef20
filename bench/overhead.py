"""What watching costs: whole training steps against plain PyTorch and detect_anomaly.

    bench/overhead.py [--seconds S] [--only WORD]

All modes run in one process, in turn: plain, nanscope, plain, detect_anomaly, plain, ... Each
sample is a ratio to the mean of the plain runs before and after it, in CPU time; the table shows
the median. "plain" has nanscope's wrappers installed and switched off.
"""

from __future__ import annotations

import argparse
import statistics
import time

import torch
import workloads

from nanscope.attach import attach
from nanscope.settings import Settings


def timed(step, repeat: int) -> float:
    begin = time.process_time()
    for _ in range(repeat):
        step()
    return time.process_time() - begin


def anomaly(step):
    def checked() -> None:
        with torch.autograd.set_detect_anomaly(True):
            step()

    return checked


def measure(make, repeat: int, seconds: float, adapter) -> dict:
    torch.manual_seed(0)
    step = make()
    modes = {"nanscope": (step, True), "detect_anomaly": (anomaly(step), False)}
    for run, on in (*modes.values(), (step, False)):
        adapter.watch(on)
        timed(run, 2 * repeat)
    ratios, plain = {name: [] for name in modes}, []
    adapter.watch(False)
    plain.append(timed(step, repeat))
    end = time.monotonic() + seconds
    while time.monotonic() < end or len(plain) < 20:
        for name, (run, on) in modes.items():
            adapter.watch(on)
            took = timed(run, repeat)
            adapter.watch(False)
            plain.append(timed(step, repeat))
            ratios[name].append(took / ((plain[-1] + plain[-2]) / 2))
    told = {name: statistics.median(values) for name, values in ratios.items()}
    return told | {
        "ms": 1000 * statistics.median(plain) / repeat,
        "samples": len(ratios["nanscope"]),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=30, help="per workload")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    adapter = attach(torch, Settings(on_error="go_on"))
    assert not isinstance(adapter, str), adapter
    adapter.begin("", False, False, "go_on", False, "", [], "", "", "", 0)
    print("| training step, 1 thread | plain, ms | nanscope | detect_anomaly | samples |")
    print("|---|---|---|---|---|")
    for name, (make, repeat) in workloads.ALL.items():
        if arguments.only in name:
            told = measure(make, repeat, arguments.seconds, adapter)
            print(
                f"| {name} | {told['ms']:.1f} | {told['nanscope']:.3f} "
                f"| {told['detect_anomaly']:.2f} | {told['samples']} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
