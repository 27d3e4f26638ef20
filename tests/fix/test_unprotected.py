"""Where the system gives no namespaces, runs happen in a copy of the working folder."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sysconfig
from pathlib import Path

import pytest

from watched import read_report

pytestmark = pytest.mark.slow

NANSCOPE = Path(sysconfig.get_path("scripts")) / "nanscope"
CLONE_NEWUSER = 0x10000000
# The fault is in a module of its own, which a spawned process uses, too.
LOSSES = """\
import torch

def entropy(p):
    return -torch.log(p).mean()
"""
TRAIN = """\
import subprocess, sys, torch
from losses import entropy

if __name__ == "__main__":
    open("result.txt", "w").write("begun")
    p = torch.tensor([0.5, 0.0], requires_grad=True)
    opt = torch.optim.SGD([p], lr=0.1)
    entropy(p).backward()
    opt.step()
    code = "import torch, losses; print(losses.entropy(torch.zeros(2)).item())"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    raise SystemExit(5 if printed == "inf\\n" else 0)
"""


def without_namespaces() -> None:
    """In the child: a namespace of its own in which there may be no other. Where that is not
    allowed, there are none in the first place.
    """
    user, group = os.getuid(), os.getgid()
    if ctypes.CDLL(None).unshare(CLONE_NEWUSER) != 0:
        return
    for path, text in (
        ("/proc/self/setgroups", "deny"),
        ("/proc/self/uid_map", f"{user} {user} 1"),
        ("/proc/self/gid_map", f"{group} {group} 1"),
        ("/proc/sys/user/max_user_namespaces", "0"),
    ):
        with open(path, "w") as file:
            file.write(text)


def fix(folder: Path, *options: str, before=without_namespaces):
    (folder / "losses.py").write_text(LOSSES)
    (folder / "train.py").write_text(TRAIN)
    (folder / "result.txt").write_text("kept")
    done = subprocess.run(
        [NANSCOPE, "fix", "--max-time", "100000", "--json", "fix.json", *options, "train.py"],
        cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": "1"}, preexec_fn=before,
    )  # fmt: skip
    return done, read_report((folder / "fix.json").read_text())["findings"][0]


def test_it_asks_first(tmp_path):
    done, finding = fix(tmp_path)
    assert "is written for real: it cannot be thrown away here" in done.stderr
    assert "it is not repeated without --yes" in done.stderr
    assert finding["verification"]["status"] == "not_run"
    assert "clamp(min=" in finding["fix"]["diff"]
    assert done.returncode == 3
    assert (tmp_path / "result.txt").read_text() == "kept"


@pytest.mark.parametrize("before", [without_namespaces, None], ids=["copy", "as it is"])
def test_spawned_processes_have_the_patch(tmp_path, before):
    """The program ends well only if the process that it spawns has it."""
    done, finding = fix(tmp_path, "--yes", before=before)
    said = "outside the working folder, of which they use a copy, is written for real"
    assert said in done.stderr or before is None
    assert finding["verification"]["status"] == "verified", done.stderr
    assert finding["fix"]["files"] == ["losses.py"]
    assert done.returncode == 0
    assert (tmp_path / "result.txt").read_text() == "kept"
    assert (tmp_path / "losses.py").read_text() == LOSSES
