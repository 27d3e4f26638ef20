"""Real packages, compiled by inductor, healthy and with a planted fault."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from test_compiled import HERE, expectations

import watched
from watched import ROOT, run_plain, watch

pytestmark = pytest.mark.release

PROGRAMS = sorted((HERE / "packages").glob("*.py"))
INSTALLED = list((ROOT / ".venv" / "packages").glob("lib/python3*/site-packages"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_package(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert INSTALLED, "no packages: scripts/setup_packages.sh"
    path = {"PYTHONPATH": os.fspath(INSTALLED[0]), "HF_HUB_OFFLINE": "1"}
    cache = {"TORCHINDUCTOR_CACHE_DIR": os.fspath(tmp_path / "cache")}
    monkeypatch.setattr(watched, "ENVIRONMENT", {**watched.ENVIRONMENT, **path, **cache})
    wanted = expectations(program)
    seen = watch(program, tmp_path)
    if wanted["expect"] == ["silence"]:
        plain = run_plain(program, tmp_path)
        assert seen.first("error", "warning") is None, seen.err
        assert (seen.status, seen.out) == (plain.returncode, plain.stdout), seen.err
        assert seen.report["verdict"] == "clean", seen.err
        return
    origin = seen.error["origin"]
    assert seen.status == 3
    assert origin["op"] in wanted["op"] and origin["phase"] in wanted["phase"]
    assert Path(origin["site"]["file"]).name == program.name
    assert str(origin["site"]["line"]) in wanted["line"], origin["site"]
    assert seen.error["cause"]["id"] in wanted["cause"]
