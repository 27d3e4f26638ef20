"""The frame seam sees what sys._getframe sees, on every Python of this machine."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from pythons import Python, pythons

HERE = Path(__file__).resolve().parent
FOUND = pythons()


def compile_probe(root: Path, python: Python, out: Path, *options: str):
    return subprocess.run(
        ["g++", "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", *options]
        + ["-isystem", str(python.include), "-I", str(root), str(HERE / "frame_probe.cc")]
        + ["-o", str(out / f"frame_probe{python.suffix}")],
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("python", FOUND, ids=str)
def test_frames_are_those_of_python(python: Python, root: Path, tmp_path: Path, capsys) -> None:
    compiled = compile_probe(root, python, tmp_path)
    if python.version < (3, 11) or python.free_threaded:
        assert compiled.returncode != 0
        assert "nanscope needs" in compiled.stderr
        return
    assert compiled.returncode == 0, compiled.stderr
    ran = subprocess.run(
        [python.executable, "-s", str(HERE / "frame_program.py")],
        env={"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) > 20
    with capsys.disabled():
        print(f"[frames of CPython {python}: {ran.stdout.strip()} stacks compared]", end=" ")


def test_a_free_threaded_python_is_refused(root: Path, tmp_path: Path) -> None:
    refused = compile_probe(root, FOUND[-1], tmp_path, "-DPy_GIL_DISABLED=1", "-fsyntax-only")
    assert refused.returncode != 0
    assert "nanscope needs the GIL" in refused.stderr
