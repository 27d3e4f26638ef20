"""What watching costs: whole training steps in a watched process beside a truly plain one.

    bench/overhead.py [--repeats N] [--rounds N] [--only WORD] [--json FILE]

For each repeat the processes are started anew, plain ones from a Python that never heard of
nanscope, and they step in turn: plain, watched, plain, another plain one, plain, ... A sample is
the CPU time of its steps over the mean of the plain ones before and after it; a repeat gives the
median of its rounds; the table shows the median of the repeats, with the least and the largest.
The other plain process is measured in the same way: what it differs from 1 is the noise.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import tempfile
from pathlib import Path

import everything
import rivals
from steppers import Stepper, command

OURS = ("exact", "sentinel", "left")
AGAIN = "again"  # plain, once more
REPEATS_OF_RIVALS = 2


class Repeat:
    """Fresh processes for one workload, which step in turn."""

    def __init__(self, name: str, modes: list[str], folder: Path, stack) -> None:
        self.repeat = everything.ALL[name].repeat
        self.steppers = {}
        for mode in ("plain", *modes):
            own = folder / mode
            own.mkdir(parents=True)
            started = Stepper(command(name, "plain" if mode == AGAIN else mode), str(own))
            self.steppers[mode] = stack.enter_context(started)
        for stepper in self.steppers.values():  # past what is compiled, and what is done once
            stepper.steps(3 * self.repeat)
        self.plain = [self.sample("plain")]

    def sample(self, mode: str) -> float:
        return self.steppers[mode].steps(self.repeat)

    def ratio(self, mode: str) -> float:
        watched = self.sample(mode)
        self.plain.append(self.sample("plain"))
        return 2 * watched / (self.plain[-1] + self.plain[-2])

    def peaks_kb(self) -> dict[str, int]:
        return {mode: stepper.peak_kb() for mode, stepper in self.steppers.items()}


def spread(values: list[float]) -> list[float]:
    """Median, least, largest."""
    return [round(x, 4) for x in (statistics.median(values), min(values), max(values))]


def measure(name: str, repeats: int, rounds: int) -> dict:
    ratios: dict[str, list[float]] = {}
    peaks: dict[str, list[int]] = {}
    plain: list[float] = []
    workload = everything.ALL[name]
    for number in range(repeats):
        modes = [AGAIN, *OURS]
        if number < REPEATS_OF_RIVALS and workload.rivals:
            modes += rivals.ALL
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
            repeat = Repeat(name, modes, Path(folder), stack)
            taken = [{mode: repeat.ratio(mode) for mode in modes} for _ in range(rounds)]
            for mode in modes:
                found = statistics.median(one[mode] for one in taken)
                ratios.setdefault(mode, []).append(found)
            for mode, peak in repeat.peaks_kb().items():
                peaks.setdefault(mode, []).append(peak)
            plain += repeat.plain
    peak_mb = {mode: statistics.median(values) / 1024 for mode, values in peaks.items()}
    return {
        "goal": workload.goal,
        "plain_ms": round(1e3 * statistics.median(plain) / workload.repeat, 3),
        "ratios": {mode: spread(values) for mode, values in ratios.items()},
        "plain_peak_mb": round(peak_mb["plain"]),
        "more_mb": {mode: round(peak_mb[mode] - peak_mb["plain"], 1) for mode in (AGAIN, *OURS)},
        "repeats": repeats,
        "rounds": rounds,
        "load": round(os.getloadavg()[0], 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=6, help="of each repeat")
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    measured = {}
    for name in everything.ALL:
        if arguments.only not in name:
            continue
        measured[name] = measure(name, arguments.repeats, arguments.rounds)
        print(name, json.dumps(measured[name]), flush=True)
        if arguments.json:
            arguments.json.write_text(json.dumps(measured, indent=1) + "\n")


if __name__ == "__main__":
    main()
