"""Every program of tests/cases and tests/innocent that the test device can run."""

from __future__ import annotations

from pathlib import Path

import pytest
from moving import differences, run_on

from watched import ROOT, run_plain

CASES = sorted((ROOT / "tests" / "cases").glob("*.py"))
INNOCENT = sorted((ROOT / "tests" / "innocent").glob("*.py"))
# Programs that do not do there what they do on the CPU, watched or not.
CANNOT = {
    "beam_search_everything_banned": "torch has a fused GRU cell for devices, and none for the CPU",
}
# Told otherwise, for the reason given.
OTHERWISE = {
    "amp_scaler_skips_a_bad_batch": "x[i] = nan is scalar_tensor there, and lift_fresh on the CPU",
}

pytestmark = pytest.mark.release


def can_run(program: Path) -> bool:
    return program.stem not in CANNOT and program.stem not in OTHERWISE


@pytest.mark.parametrize("mode", ["lazy", "threaded"])
@pytest.mark.parametrize("program", list(filter(can_run, CASES)), ids=lambda path: path.stem)
def test_same_finding(program: Path, mode: str, tmp_path: Path) -> None:
    assert differences(program, mode, tmp_path) == {}


@pytest.mark.parametrize("mode", ["lazy", "threaded"])
@pytest.mark.parametrize("program", list(filter(can_run, INNOCENT)), ids=lambda path: path.stem)
def test_silent(program: Path, mode: str, tmp_path: Path) -> None:
    seen = run_on(program, tmp_path / "there", mode)
    assert seen.first("error") is None, seen.err
    assert seen.report["verdict"] == "clean"
    plain = run_plain(program, tmp_path)
    assert (seen.status, seen.out) == (plain.returncode, plain.stdout)
