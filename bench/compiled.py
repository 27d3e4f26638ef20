"""Where the time goes under torch.compile: inside our part of a region's call; and compiling.

    bench/compiled.py [--seconds S] [--only WORD] [--rounds N] [--json FILE]

The share is the time inside our own part of a region's call (what is kept before it, the look at
its results and at its gradients), and inside the hooks of a step, over the time of all the rest.
Whole steps beside truly plain ones are in bench/overhead.py. The time to compile is that of whole
processes: a first step from empty caches, and from the caches that this one filled.
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

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import compiled_workloads
import split
import torch
import workloads

from nanscope.moments import attach
from nanscope.run.settings import Settings

HERE = Path(__file__).parent
NANSCOPE = Path(sysconfig.get_path("scripts")) / "nanscope"


class OurTime:
    """The time inside our part of each call."""

    def __init__(self) -> None:
        from nanscope.compiled.region import Region

        self.spent = 0
        inner = Region.guarded

        def timed(region, act, *given):
            began = time.perf_counter_ns()
            try:
                return inner(region, act, *given)
            finally:
                self.spent += time.perf_counter_ns() - began

        Region.guarded = timed


def share_of(step, seconds: float, ours: OurTime, adapter) -> dict:
    adapter.watch(True)
    step()
    ours.spent, steps, began = 0, 0, time.perf_counter_ns()
    while steps < 5 or time.perf_counter_ns() < began + seconds * 1e9:
        step()
        steps += 1
    total, in_regions = time.perf_counter_ns() - began, ours.spent
    adapter.watch(False)
    outside, _ = split.parts_of(step, 1, seconds, adapter)
    share = in_regions / (total - in_regions) + sum(outside[name] for name in split.WHOLE)
    return {"share": round(share, 5), "regions_us": round(in_regions / steps / 1e3, 1)}


def compile_times(rounds: int) -> dict:
    """Seconds of a process with one step, cold and warm, plain and watched."""
    taken: dict[str, list[float]] = {}
    for _ in range(rounds):
        for who, command in (("python", [sys.executable]), ("nanscope", [str(NANSCOPE), "run"])):
            with tempfile.TemporaryDirectory() as cache:
                for state in ("cold", "warm"):
                    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": cache}
                    began = time.monotonic()
                    subprocess.run(
                        [*command, str(Path(__file__)), "--one-step"],
                        env=environment,
                        check=True,
                        capture_output=True,
                    )
                    taken.setdefault(f"{who}_{state}_s", []).append(time.monotonic() - began)
    return {name: round(statistics.median(times), 2) for name, times in taken.items()}


def measure(make, seconds: float, ours: OurTime, adapter) -> dict:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    torch._dynamo.reset()
    adapter.watch(True)
    step = make()
    for _ in range(3):
        step()
    return share_of(step, seconds, ours, adapter)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=10, help="per workload")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=3, help="of the time to compile")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one-step", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one_step:
        compiled_workloads.compiled_whole(workloads.gpt)()()
        return
    adapter = attach.load(torch)
    assert not isinstance(adapter, str), adapter
    attach.connect_exact(torch, adapter, Settings(on_error="go_on"))
    adapter.begin(adapter.SessionOptions(on_error="go_on"))
    ours, measured = OurTime(), {"steps": {}}
    for name, workload in compiled_workloads.ALL.items():
        if arguments.only not in name:
            continue
        share = measure(workload.make, arguments.seconds, ours, adapter)
        measured["steps"][name] = {"load": round(os.getloadavg()[0], 1)} | share
        print(name, json.dumps(measured["steps"][name]), flush=True)
    if arguments.rounds:
        measured["compile"] = compile_times(arguments.rounds)
        print("compile", json.dumps(measured["compile"]), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(measured, indent=1) + "\n")


if __name__ == "__main__":
    main()
