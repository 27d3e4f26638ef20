"""The scripts for other versions of torch and Python agree with the package and their page."""

import importlib.util
import re
from pathlib import Path

import pytest

from nanscope import support

FOLDER = Path(__file__).resolve().parents[2] / "scripts" / "versions"


def load(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(FOLDER)
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_supported_version_has_a_release(monkeypatch):
    releases = load("releases", monkeypatch)
    assert tuple(releases.RELEASES) == support.TORCH
    assert all(release.startswith(minor + ".") for minor, release in releases.RELEASES.items())
    assert releases.PYTHONS == support.PYTHON


def test_the_page_is_what_the_figures_give(monkeypatch, tmp_path):
    page = load("page", monkeypatch)
    kept = page.PAGE.read_text()
    monkeypatch.setattr(page, "PAGE", tmp_path / "supported.md")
    page.PAGE.write_text(re.sub(f"(?s){page.BEGIN}.*{page.END}", page.BEGIN + page.END, kept))
    page.write_page()
    assert page.PAGE.read_text() == kept


def test_a_name_that_no_torch_has_is_seen(monkeypatch):
    checks = load("check_versions", monkeypatch)
    assert all(checks.tables().values()), "names are read from every table"
    ops = {"log", "log_", "special_xlog1py", "empty_like"}
    known = {name: checks.is_there(name, ops) for name in ("log", "xlog1py", "empty*", "_cat")}
    assert known == {"log": True, "xlog1py": True, "empty*": True, "_cat": False}
