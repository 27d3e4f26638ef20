"""A source archive carries the report page, built: who installs it needs no node."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from watched import ROOT

BUILD = """
import sys
sys.path.insert(0, "scripts")
import build_backend
print(build_backend.build_sdist(sys.argv[1]))
"""


@pytest.mark.slow
def test_the_archive_has_the_page(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    ignored = shutil.ignore_patterns("build", ".venv", ".git", "__pycache__", "golden")
    shutil.copytree(ROOT, tree, ignore=ignored)
    done = subprocess.run(
        [sys.executable, "-c", BUILD, tmp_path], cwd=tree, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    with tarfile.open(tmp_path / done.stdout.split()[-1]) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
        page = archive.extractfile(archive.getnames()[names.index("web/report.html")]).read()
    assert b"<!--nanscope:data-->" in page and b"uPlot" in page
    assert not (tree / "web/report.html").exists()  # it was there for the archive alone
