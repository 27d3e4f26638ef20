"""Random programs with fixed seeds; `make fuzz-programs` runs others for as long as one likes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from watched import ENVIRONMENT

FUZZER = Path(__file__).with_name("program_fuzzer.py")


@pytest.mark.slow
def test_the_first_bad_line_of_random_programs() -> None:
    done = subprocess.run(
        [sys.executable, FUZZER, "150", "0"], env=ENVIRONMENT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    report = json.loads(done.stdout.splitlines()[-1])
    assert report["wrong"] == [] and report["broken_proofs"] == []
    assert report["programs"] > 100 and report["proofs"] > 1000
    assert report["by_another_hand"] > 10
