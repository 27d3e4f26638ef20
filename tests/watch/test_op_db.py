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
    report = json.loads(done.stdout.splitlines()[-1])
    print(report)
    assert report["ops"] > 60 and report["samples"] > 300
    assert report["ops_watched"] > report["samples"]
    assert report["different"] == []
    assert report["broken_proofs"] == [] and report["proofs"] > 100
    assert all(name.startswith(MAY_DIFFER) for name in report["not_comparable"]), report[
        "not_comparable"
    ]
