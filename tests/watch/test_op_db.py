"""Bit equality over torch's own op_db, in two processes per type."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from watched import ENVIRONMENT

PARTS = 4
# What differs from itself without the watch: memory that nobody wrote.
MAY_DIFFER = ("empty", "new_empty", "linalg.lstsq", "resize", "nn.functional.scaled_dot")


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "complex64"])
@pytest.mark.parametrize("part", range(PARTS))
def test_every_sample_gives_the_same_bits(part: int, dtype: str) -> None:
    script = Path(__file__).with_name("op_db_part.py")
    done = subprocess.run(
        [sys.executable, script, str(part), str(PARTS), dtype],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout.splitlines()[-1])
    print(told)
    assert told["ops"] > 60 and told["samples"] > 300 and told["ops_watched"] > told["samples"]
    assert told["different"] == []
    assert told["broken_proofs"] == [] and told["proofs"] > 100
    assert all(name.startswith(MAY_DIFFER) for name in told["not_comparable"]), told[
        "not_comparable"
    ]
