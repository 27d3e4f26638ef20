"""`nanscope run` shows the first proposal too, as what it is: not verified."""

from __future__ import annotations

import os
import subprocess
import sysconfig
from pathlib import Path

from watched import read_report

NANSCOPE = Path(sysconfig.get_path("scripts")) / "nanscope"
FAULT = """\
import torch
p = torch.tensor([3.0, 0.0], requires_grad=True)
torch.optim.SGD([p], lr=0.1)
loss = -torch.log(p).sum()
loss.backward()
loss.item()
"""
CLAMPED = "+loss = -torch.log(p.clamp(min=1e-8)).sum()"
NOT_VERIFIED = "clamp_before_log (a proposal, not verified: `nanscope fix` tries it)"


def run(folder: Path, program: str = FAULT, **environment: str):
    (folder / "train.py").write_text(program)
    command = [NANSCOPE, "run", "--json", "run.json", "-o", "run.nsc", "train.py"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env={**os.environ, **environment}
    )
    return done, read_report((folder / "run.json").read_text())["findings"]


def show(folder: Path) -> str:
    done = subprocess.run([NANSCOPE, "show", "run.nsc"], cwd=folder, capture_output=True, text=True)
    return done.stdout


def test_it_is_in_text_json_and_capture(tmp_path):
    done, findings = run(tmp_path)
    assert done.returncode == 3
    assert done.stdout == ""
    assert NOT_VERIFIED in done.stderr and CLAMPED in done.stderr
    assert "Verification\n  Not run.\n" in done.stderr
    fix = findings[0]["fix"]
    assert CLAMPED in fix["diff"] and fix["files"] == ["train.py"] and not fix["applied"]
    assert findings[0]["verification"]["status"] == "not_run"
    assert (tmp_path / "train.py").read_text() == FAULT
    assert done.stderr == show(tmp_path) + "Capture: run.nsc\nNext: nanscope fix --from run.nsc\n"


def test_it_needs_no_file(tmp_path):
    """Where none can be made, and where none can be written."""
    train = tmp_path / "train.py"
    train.write_text(FAULT)
    done = subprocess.run([NANSCOPE, "run", train], cwd="/proc", capture_output=True, text=True)
    assert done.returncode == 3
    assert NOT_VERIFIED in done.stderr and CLAMPED in done.stderr, done.stderr
    command = [NANSCOPE, "run", "-q", "-f", "-o", "/dev/full", "--json", "-", train]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    fix = read_report(done.stdout)["findings"][0]["fix"]
    assert fix["id"] == "clamp_before_log" and CLAMPED in fix["diff"]


def test_without_libcst_it_points_to_fix(tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text("import sys\nsys.modules['libcst'] = None\n")
    done, findings = run(tmp_path, PYTHONPATH=str(site))
    assert done.returncode == 3
    assert "Fix\n  None is proposed; `nanscope fix` looks for one.\n" in done.stderr
    assert findings[0]["fix"] is None


def test_what_only_hides_the_fault_is_not_proposed(tmp_path):
    program = FAULT.replace("-torch.log(p).sum()", "(torch.fft.fft(p) * 3e38 * 3e38).abs().sum()")
    done, findings = run(tmp_path, program)
    assert done.returncode == 3
    assert findings[0]["fix"] is None


def test_a_program_that_spoils_its_own_process_is_diagnosed_all_the_same(tmp_path):
    spoiled = FAULT.replace(
        "loss.item()\n",
        "import sys\n"
        "sys.modules['json'].loads = sys.modules['ast'] = None\n"
        "sys.executable = '/nowhere/python'\n"
        "loss.item()\n",
    )
    done, findings = run(tmp_path, "import json\n" + spoiled)
    assert done.returncode == 3
    assert "\n  log_of_zero (" in done.stderr
    assert findings[0]["fix"] is None
