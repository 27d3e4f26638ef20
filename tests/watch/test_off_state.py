"""What is left of the watch when it is off: nothing that costs more than a function call."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("stepped_program.py")
# Instructions. A wrapper before a kernel takes some 20, a function of Python that does nothing some
# 200; a stand-in in C that packs its arguments, or a hook of Python, takes more than this.
A_CALL = 250


@pytest.fixture(scope="module")
def counts() -> dict[str, list[int]]:
    done = subprocess.run([sys.executable, PROGRAM], capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("act", ["op", "backward", "step", "zero_grad", "item", "numpy"])
def test_a_watch_that_was_left_costs_no_more_than_a_call(counts, act: str) -> None:
    plain, left = counts[act]
    assert left - plain <= A_CALL, counts
