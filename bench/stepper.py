"""A process that runs training steps when it is told to; bench/ starts it plain, watched, ...

    bench/stepper.py WORKLOAD [--rival NAME] [--left]

Reads a line `steps N` and answers with the CPU seconds that N steps took; `count N` runs them with
callgrind's counting switched on; `peak` answers with the largest resident size so far, in kB.
`--left` trains a little under `nanscope.watch()` and leaves the block before all else. A plain
process never imports nanscope.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import resource
import sys
import time

# Read when torch is loaded: a thread that waits for its partner must not spin, for its time counts.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import everything
import torch
import workloads


def train_under_a_watch() -> None:
    import nanscope

    model = torch.nn.Linear(4, 4)
    step = workloads.stepper(
        model, torch.optim.SGD(model.parameters(), 0.1), lambda: model(torch.ones(2, 4)).sum()
    )
    with nanscope.watch():
        step()


class Counting:
    """Switches callgrind's counting on and off; where it is not there, nothing happens."""

    def __init__(self) -> None:
        library = os.environ.get("NANSCOPE_BENCH_CALLGRIND")
        requests = ctypes.CDLL(library) if library else None
        self.start = requests.start_counting if requests else int
        self.stop = requests.stop_counting if requests else int


class Orders:
    """What is to be done next: `goes_on` is asked before the first step and behind each."""

    def __init__(self) -> None:
        self.left = 0
        self.counting = Counting()
        self.counts = False
        self.began: float | None = None

    def goes_on(self) -> bool:
        self.left -= 1
        if self.left > 0:
            return True
        if self.began is not None:
            if self.counts:
                self.counting.stop()
            answer(f"{time.process_time() - self.began:.6f}")
            self.began = None
        return self.reads_more()

    def reads_more(self) -> bool:
        for line in sys.stdin:
            order, *number = line.split()
            if order == "peak":
                answer(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))
                continue
            self.left, self.counts = int(number[0]), order == "count"
            self.began = time.process_time()
            if self.counts:
                self.counting.start()
            return True
        return False


def answer(words: str) -> None:
    print(f"answer {words}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("workload")
    parser.add_argument("--rival")
    parser.add_argument("--left", action="store_true")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(int(os.environ.get("NANSCOPE_BENCH_THREADS", "1")))
    if arguments.left:
        train_under_a_watch()
    step, orders = everything.ALL[arguments.workload].make(), Orders()
    if hasattr(step, "drive"):
        step.drive(orders.goes_on)
        return
    if arguments.rival:
        import rivals

        step = rivals.ALL[arguments.rival](step)
    while orders.goes_on():
        step()


if __name__ == "__main__":
    main()
