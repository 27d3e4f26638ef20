"""Counts the instructions of a few acts before nanscope is imported, and after a watch() was left.

Prints JSON: {act: [plain, left]}. The counts are exact: a parent lets this process go on
instruction by instruction (ptrace) between two signals that it sends to itself.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import signal
import sys

import torch

TRACEME, CONT, SINGLESTEP = 0, 7, 9
WARM = 1000
TIMES = 8  # the least counts: dictionaries grow, lists are freed
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def counted(child: int) -> int:
    """From one stop to the next."""
    steps = 0
    while True:
        libc.ptrace(SINGLESTEP, child, None, None)
        _, status = os.waitpid(child, 0)
        if not os.WIFSTOPPED(status) or os.WSTOPSIG(status) != signal.SIGTRAP:
            return steps
        steps += 1


def follow(child: int) -> list[int]:
    """Counts at every other stop, until the child ends."""
    counts, counting = [], False
    _, status = os.waitpid(child, 0)
    while os.WIFSTOPPED(status):
        counting = not counting
        if counting:
            counts.append(counted(child))
            status = signal.SIGSTOP << 8 | 0x7F
        else:
            libc.ptrace(CONT, child, None, None)
            _, status = os.waitpid(child, 0)
    if status != 0:
        sys.exit(f"the traced process ended with {status}")
    return counts


def stop(process: int, by: int = signal.SIGSTOP, kill=os.kill) -> None:
    kill(process, by)


class Still(torch.optim.Optimizer):
    """Its step does nothing: what is counted stands around it."""

    def step(self) -> None:
        pass


class StillEngine:
    """So that of a backward only what leads to the engine is counted."""

    def run_backward(self, *_, **__) -> tuple:
        return ()


def acts() -> dict:
    torch.autograd.Variable._execution_engine = StillEngine()
    torch.autograd.profiler.record_function = contextlib.nullcontext  # of 60,000 instructions
    x, y = torch.ones(4), torch.full((4,), 1e-9)
    weight = torch.nn.Parameter(torch.ones(4))
    optimizer, graph = Still([weight], {}), torch.autograd.graph
    roots, one, no_inputs = (weight.sum(),), (torch.ones(()),), ()
    total = x.sum()

    def backward() -> None:
        graph._engine_run_backward(
            roots, one, True, False, no_inputs, allow_unreachable=True, accumulate_grad=True
        )

    return {
        "nothing": lambda: None,
        "op": lambda: x.add_(y),
        "backward": backward,
        "step": lambda: optimizer.step(),
        "zero_grad": lambda: optimizer.zero_grad(),
        "item": lambda: total.item(),
        "numpy": lambda: x.numpy(),
    }


def count_each(all_of_them: dict) -> None:
    for act in all_of_them.values():
        for _ in range(WARM):
            act()
    process = os.getpid()
    gc.disable()
    for act in all_of_them.values():
        for _ in range(TIMES):
            stop(process)
            act()
            stop(process)
    gc.enable()


def watch_for_a_while() -> None:
    import nanscope

    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with nanscope.watch():
        (model(torch.ones(4)).sum() * 2).backward()
        optimizer.step()


def run() -> None:
    torch.set_num_threads(1)
    all_of_them = acts()
    if libc.ptrace(TRACEME, 0, None, None) != 0:
        print("This system lets no process be traced (ptrace).", file=sys.stderr)
        os._exit(1)
    count_each(all_of_them)
    watch_for_a_while()
    count_each(all_of_them)


def main() -> None:
    child = os.fork()
    if child == 0:
        run()
        os._exit(0)
    stretches = follow(child)
    counts = [min(stretches[i : i + TIMES]) for i in range(0, len(stretches), TIMES)]
    names = list(acts())
    plain, left = counts[: len(names)], counts[len(names) :]
    both = zip(names, plain, left, strict=True)
    print(json.dumps({name: [before, after] for name, before, after in both}))


if __name__ == "__main__":
    main()
