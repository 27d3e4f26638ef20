"""The test device itself: late, out of the host's reach, and right."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from moving import environment

TRAINING = Path(__file__).with_name("training.py")


def run(text: str, mode: str = "lazy") -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", "import torch, lag\n" + text],
        env={**os.environ, **environment(mode), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )


def out_of(text: str, mode: str = "lazy") -> str:
    done = run(text, mode)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("mode", ["lazy", "threaded"])
def test_it_trains_as_the_cpu_does(mode: str) -> None:
    """An MLP, a CNN, and a transformer under autocast: the same losses, bit for bit."""
    text = f"import sys; sys.path.insert(0, {str(TRAINING.parent)!r}); import training\n"
    text += "for kind in training.KINDS:\n"
    text += "    here, there = training.losses(kind, 'cpu'), training.losses(kind, 'lag')\n"
    text += "    print(kind, here == there, len(here) > 0 and here)\n"
    told = out_of(text, mode).splitlines()
    assert [line.split()[:2] for line in told] == [[k, "True"] for k in ("mlp", "cnn", "gpt")], told


def test_a_kernel_runs_when_somebody_waits() -> None:
    assert (
        out_of(
            "x = torch.ones(4, device='lag')\n"
            "y = x + 1\n"
            "before = lag.count('waiting')\n"
            "print(before > 0, y.tolist(), lag.count('waiting'))\n"
        )
        == "True [2.0, 2.0, 2.0, 2.0] 0\n"
    )


def test_memory_is_freed_in_the_order_of_the_stream() -> None:
    assert (
        out_of(
            "x = torch.ones(1000, device='lag')\n"
            "y = x * 3\n"
            "del x\n"
            "z = torch.empty(1000, device='lag')\n"
            "print(y.sum().item(), z.isnan().all().item())\n"
        )
        == "3000.0 True\n"
    )


def test_the_host_cannot_touch_it() -> None:
    done = run(
        "import ctypes\n"
        "x = torch.ones(4, device='lag')\n"
        "print(ctypes.c_float.from_address(x.data_ptr()).value)\n"
    )
    assert (done.returncode, done.stdout) == (-signal.SIGSEGV, "")


def test_what_fails_there_is_told_at_the_next_wait() -> None:
    done = run(
        "x = torch.ones(4, device='lag')\n"
        "y = x[torch.tensor([7], device='lag')]\n"
        "print('launched', flush=True)\n"
        "lag.wait()\n"
    )
    assert (done.returncode, done.stdout) == (1, "launched\n")
    assert "index 7 is out of bounds" in done.stderr
