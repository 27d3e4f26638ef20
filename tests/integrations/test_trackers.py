"""`run --notify` with real trackers, all of them on this machine: MLflow with a file store, W&B
offline, the database of Trackio. `scripts/setup_packages.sh trackers` installs them.
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from installed_packages import with_trackers

from watched import NANSCOPE, ROOT

pytestmark = pytest.mark.release
EXAMPLE = ROOT / "examples/integrations/tracked.py"


def run(folder: Path, tracker: str, script: Path = EXAMPLE) -> subprocess.CompletedProcess:
    environment = {
        **with_trackers(),
        "MLFLOW_TRACKING_URI": f"file://{folder}/mlruns",
        "MLFLOW_ALLOW_FILE_STORE": "true",
        "WANDB_MODE": "offline",
        "WANDB_DIR": str(folder),
        "TRACKIO_DIR": str(folder / "trackio"),
        "HOME": str(folder),
    }
    line = [NANSCOPE, "run", "--notify", tracker, script, tracker]
    done = subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 3, done.stderr
    assert "was not told" not in done.stderr
    return done


def test_mlflow_has_tags_and_the_report(tmp_path: Path) -> None:
    run(tmp_path, "mlflow")
    read = """
import json, mlflow, sys
(run,) = mlflow.search_runs(experiment_ids=["0"], output_format="list")
text = mlflow.artifacts.load_text(run.info.artifact_uri + "/nanscope.txt")
print(json.dumps([run.data.tags["nanscope.cause"], run.data.tags["nanscope.headline"], text]))
"""
    environment = {
        **with_trackers(),
        "MLFLOW_TRACKING_URI": f"file://{tmp_path}/mlruns",
        "MLFLOW_ALLOW_FILE_STORE": "true",
    }
    line = [sys.executable, "-c", read]
    done = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert '"log_of_zero"' in done.stdout and "aten::log made -inf" in done.stdout
    assert "Root Cause" in done.stdout


def test_wandb_has_an_alert_though_its_run_ends_first(tmp_path: Path) -> None:
    run(tmp_path, "wandb")
    (records,) = tmp_path.glob("wandb/offline-run-*/run-*.wandb")
    data = records.read_bytes()
    assert b"nanscope: log_of_zero" in data
    assert b"aten::log made -inf" in data


def test_trackio_has_an_alert(tmp_path: Path) -> None:
    run(tmp_path, "trackio")
    (file,) = (tmp_path / "trackio").glob("*.db")
    with sqlite3.connect(file) as database:
        ((title, level),) = database.execute("SELECT title, level FROM alerts").fetchall()
    assert "aten::log made -inf" in title and level.lower() == "error"
