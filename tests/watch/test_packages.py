"""Programs with real packages (scripts/setup_packages.sh) against the finding in their header."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from test_cases import expectations

import watched
from watched import ROOT, run_plain, watch

pytestmark = pytest.mark.slow

PROGRAMS = sorted((ROOT / "tests" / "packages").glob("*.py"))
PLANTED = [path for path in PROGRAMS if path.name.startswith("planted_")]
HEALTHY = [path for path in PROGRAMS if path not in PLANTED]
INSTALLED = list((ROOT / ".venv" / "packages").glob("lib/python3*/site-packages"))


@pytest.fixture(autouse=True)
def packages(monkeypatch: pytest.MonkeyPatch) -> None:
    assert INSTALLED, "no packages: scripts/setup_packages.sh"
    path = {"PYTHONPATH": os.fspath(INSTALLED[0]), "HF_HUB_OFFLINE": "1"}
    monkeypatch.setattr(watched, "ENVIRONMENT", {**watched.ENVIRONMENT, **path})


@pytest.mark.parametrize("program", HEALTHY, ids=lambda path: path.stem)
def test_healthy(program: Path, tmp_path: Path) -> None:
    assert expectations(program)["expect"] == ["silence"]
    seen = watch(program, tmp_path)
    plain = run_plain(program, tmp_path)
    assert plain.returncode == 0, plain.stderr
    assert seen.first("error", "warning") is None, seen.err
    assert (seen.status, seen.out) == (plain.returncode, plain.stdout)
    assert seen.report["verdict"] == "clean"


@pytest.mark.parametrize("program", PLANTED, ids=lambda path: path.stem)
def test_planted(program: Path, tmp_path: Path) -> None:
    wanted = expectations(program)
    assert wanted["expect"] == ["error"]
    seen = watch(program, tmp_path)
    assert seen.status == 3
    origin = seen.error["origin"]
    assert origin["op"] in wanted["op"]
    assert origin["phase"] in wanted["phase"]
    site = origin["site"]
    assert Path(site["file"]).name == program.name
    assert str(site["line"]) in wanted["line"], site
