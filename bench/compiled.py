"""What watching costs where the program is compiled: steps, and the time to compile.

    bench/compiled.py [--seconds S] [--only WORD] [--rounds N] [--json FILE]

Whole steps in turn, plain and watched, as bench/overhead.py does it; `plain` is the compiled step
with the watch off. A cost of a hundredth drowns in the noise of whole steps, so that the share is
measured as well: the time inside our own part of a region's call (what is kept before it, the look
at its results and at its gradients), and inside the hooks of a step, over the time of all the rest.
The time to compile is that of whole processes: a first step from empty caches, and from the caches
that this one filled.
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

import overhead
import torch
import workloads

from nanscope.moments import attach
from nanscope.run.settings import Settings

HERE = Path(__file__).parent
NANSCOPE = Path(sysconfig.get_path("scripts")) / "nanscope"


def compiled_model(make):
    step = make()
    step.model.compile()
    return step


def compiled_whole(make):
    """The optimizer too: what a region writes is copied before each call."""
    step = compiled_model(make)
    step.optimizer.step = torch.compile(step.optimizer.step)
    return step


# name: (compiled as, maker of a step, steps in one sample, what the ratio should be)
ALL = {
    "tiny MLP, model and Adam compiled": (compiled_whole, workloads.tiny_mlp, 8, 1.03),
    "GPT, model compiled": (compiled_model, workloads.gpt, 1, 1.01),
    "GPT, model and AdamW compiled": (compiled_whole, workloads.gpt, 1, 1.03),
    "ResNet-18-like CNN, model compiled": (compiled_model, workloads.resnet, 1, 1.01),
    "GPT under bf16 autocast, model compiled": (compiled_model, workloads.gpt_bfloat16, 1, 1.01),
}


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
    outside, _ = overhead.parts_of(step, 1, seconds, adapter)
    share = in_regions / (total - in_regions) + sum(outside[name] for name in overhead.WHOLE)
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


def measure(how, make, repeat: int, seconds: float, ours: OurTime, adapter) -> dict:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    torch._dynamo.reset()
    adapter.watch(True)
    step = how(make)
    for _ in range(3):
        step()
    measured = overhead.ratios_of(step, repeat, 0.6 * seconds, {}, adapter)
    return measured | share_of(step, 0.2 * seconds, ours, adapter)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=40, help="per workload")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=3, help="of the time to compile")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one-step", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one_step:
        compiled_whole(workloads.gpt)()
        return
    adapter = attach.load(torch)
    assert not isinstance(adapter, str), adapter
    attach.connect_exact(torch, adapter, Settings(on_error="go_on"))
    adapter.begin(adapter.SessionOptions(on_error="go_on"))
    ours, measured = OurTime(), {"steps": {}}
    for name, (how, make, repeat, goal) in ALL.items():
        if arguments.only not in name:
            continue
        step = measure(how, make, repeat, arguments.seconds, ours, adapter)
        measured["steps"][name] = {"goal": goal, "load": round(os.getloadavg()[0], 1)} | step
        print(name, json.dumps(measured["steps"][name]), flush=True)
    if arguments.rounds:
        measured["compile"] = compile_times(arguments.rounds)
        print("compile", json.dumps(measured["compile"]), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(measured, indent=1) + "\n")


if __name__ == "__main__":
    main()
