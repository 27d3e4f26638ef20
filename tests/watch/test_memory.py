"""A long run with a mask in every layer: memory does not grow."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from watched import ENVIRONMENT, NANSCOPE, ROOT


@pytest.mark.slow
def test_memory_is_flat_over_many_steps(tmp_path: Path) -> None:
    done = subprocess.run(
        [NANSCOPE, "run", ROOT / "bench" / "memory.py", "12000"],
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    resident = [int(line.split()[1]) for line in done.stdout.splitlines()]
    assert len(resident) == 10
    # The event ring is full after 4,096 steps; what came after is the growth that would go on.
    assert resident[-1] - resident[5] < 512, resident
