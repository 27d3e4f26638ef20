"""Other Pythons that a program starts are watched, and see nothing of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from nanscope.run.following import split_command
from watched import ENVIRONMENT, NANSCOPE

PARENT = """
import subprocess, sys, torch
sys.exit(subprocess.run([sys.executable, "-u", "child.py", "--word"]).returncode)
"""
BAD = """
import torch
w = torch.zeros(2, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
torch.sqrt(w).sum().backward()
optimizer.step()
"""
SHOW = """
import json, os, sys
names = [name for name in os.environ if name.startswith("NANSCOPE") or name == "PYTHONPATH"]
print(json.dumps([sys.path, sys.argv, names, os.environ.get("PYTHONPATH"), __name__]))
"""


def run(folder: Path, *command: object, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env={**ENVIRONMENT, **more},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_an_error_in_another_python_is_found_unless_it_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "parent.py").write_text(PARENT)
    (tmp_path / "child.py").write_text(BAD)
    seen = run(tmp_path, NANSCOPE, "run", "parent.py")
    assert seen.returncode == 3, seen.stderr
    assert "sqrt_gradient_at_zero" in seen.stderr and "child.py:5" in seen.stderr
    [capture] = tmp_path.glob("nanscope-child.*.nsc")
    capture.unlink()

    alone = run(tmp_path, NANSCOPE, "run", "--no-follow", "parent.py")
    assert alone.returncode == 0 and alone.stderr.startswith("NOT FULLY WATCHED")
    assert not list(tmp_path.glob("*.nsc"))


def test_it_looks_as_without_the_watch(tmp_path: Path) -> None:
    (tmp_path / "parent.py").write_text(PARENT)
    (tmp_path / "child.py").write_text(SHOW)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text("import sys; sys.path.append('/of/site')\n")
    for more in ({}, {"PYTHONPATH": str(tmp_path / "site")}, {"PYTHONPATH": ""}):
        plain = run(tmp_path, sys.executable, "parent.py", **more)
        watched = run(tmp_path, NANSCOPE, "run", "parent.py", **more)
        assert json.loads(watched.stdout) == json.loads(plain.stdout)
        assert watched.returncode == plain.returncode == 0


def test_a_command_is_split_as_python_splits_it() -> None:
    assert split_command(["python"]) is None
    assert split_command(["python", "-V"]) is None
    assert split_command(["python", "-u", "a.py", "-m"]) == (["-u"], ["a.py", "-m"])
    assert split_command(["python", "-X", "dev", "-"]) == (["-X", "dev"], ["-"])
    assert split_command(["python", "-Wonce", "-m", "x", "-u"]) == (["-Wonce"], ["-m", "x", "-u"])
    assert split_command(["python", "-uc", "pass", "1"]) == (["-u"], ["-c", "pass", "1"])
    assert split_command(["python", "-mx"]) == ([], ["-m", "x"])
