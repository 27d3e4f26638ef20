"""`nanscope.check` on tensors of a device, and `nanscope doctor --device`."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from moving import environment

BLIND = (
    "@torch.library.impl('aten::linalg_vector_norm', 'PrivateUse1')\n"
    "def norm(x, ord=2, dim=None, keepdim=False, dtype=None):\n"
    "    return torch.nan_to_num(x).abs().amax()\n"
)


def run(text: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", "import torch, lag, nanscope\n" + text],
        env={**os.environ, **environment(), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )


def test_a_healthy_tensor_is_not_copied() -> None:
    done = run(
        "x = torch.ones(1 << 16, device='lag')\n"
        "nanscope.check(x)  # the device is tried\n"
        "taken = []\n"
        "cpu, torch.Tensor.cpu = torch.Tensor.cpu, lambda self: taken.append(self) or cpu(self)\n"
        "waits = lag.count('waits')\n"
        "print(nanscope.check(x) is x, len(taken), lag.count('waits') - waits)\n"
    )
    assert done.stdout == "True 0 1\n", done.stderr


def test_a_bad_tensor_is_told_as_on_the_cpu() -> None:
    done = run(
        "x = torch.tensor([1.0, float('nan'), 3.0, float('-inf')])\n"
        "for tensor in (x, x.to('lag'), x.to('lag')[1:]):\n"
        "    try:\n"
        "        nanscope.check({'w': tensor}, 'state')\n"
        "    except nanscope.CheckFailed as error:\n"
        "        print(str(error).splitlines()[0], error.stats.indices)\n"
        "print(nanscope.check(torch.arange(3, device='lag')).tolist())\n"
    )
    assert done.stdout.splitlines() == [
        "state['w'] is not finite: 2 of 4 elements: 1 NaN, 1 -Inf ((1,), (3,))",
        "state['w'] is not finite: 2 of 4 elements: 1 NaN, 1 -Inf ((1,), (3,))",
        "state['w'] is not finite: 2 of 3 elements: 1 NaN, 1 -Inf ((0,), (2,))",
        "[0, 1, 2]",
    ], done.stderr


def test_a_device_that_hides_nan_is_refused() -> None:
    done = run(
        BLIND + "try:\n"
        "    nanscope.check(torch.ones(2, device='lag'), 'w')\n"
        "except TypeError as error:\n"
        "    print(error)\n"
        "from nanscope.api import device_trial\n"
        "print(device_trial.try_types(torch.device('lag'))[1])\n"
    )
    assert done.stdout.splitlines() == [
        "w is in the memory of lag:0, not the host's; bring it to the host first: w.cpu()",
        "float32 cannot be looked at",
    ], done.stderr


@pytest.mark.slow
def test_doctor_tries_everything_on_the_device() -> None:
    done = run("from nanscope.api import device_trial\nprint(device_trial.carry_out('lag'))\n")
    *told, status = done.stdout.splitlines()
    assert status == "0", done.stdout + done.stderr
    assert told[0] == "device   lag:0"
    assert told[2].startswith("places   864 of 864 ")
    assert told[3] == "births   20 of 20 found as on the CPU"
    assert told[-1] == "watched: lag, by a look after each operation"
