"""The callback of transformers in a real trainer of TRL (`scripts/setup_packages.sh trackers`)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from installed_packages import with_trackers

from watched import ROOT

pytestmark = pytest.mark.release
EXAMPLES = ROOT / "examples" / "integrations"
PROGRAM = f"""
import json, sys
sys.path.insert(0, {str(EXAMPLES)!r})
import trl_sft as example

for empty in (None, 20):
    callback = example.NanscopeCallback()
    trainer = example.train(empty, callback, "trained")
    finding = callback.finding
    origin = finding and [finding.origin.op, finding.origin.site.function, finding.cause.id]
    print(json.dumps([origin, callback.training.place, trainer.state.global_step]), flush=True)
"""


def test_a_fine_tuning_with_and_without_a_fault(tmp_path: Path) -> None:
    line = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(
        line, cwd=tmp_path, env=with_trackers(), capture_output=True, text=True, timeout=1800
    )
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    healthy, stopped = rows
    assert healthy == [None, {}, 8]
    assert stopped[0] == ["aten::div", "PerRareWord.compute_loss", "division_by_zero"]
    place = dict(stopped[1])
    assert "input_ids" in place.pop("batch of")
    assert place == {"epoch": 0.62, "batch": 5, "global step": 5}
    assert stopped[2] == 6
    assert "logging_nan_inf_filter is on" in done.stderr
    assert "'loss': '0'" in done.stdout  # what the report says of the log is so
    assert (tmp_path / "trained/nanscope.html").exists()
