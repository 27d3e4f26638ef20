"""`nanscope fix` as a user meets it: answers, exit status, files."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sysconfig
from pathlib import Path

import pytest

from nanscope import _core
from watched import read_report

pytestmark = pytest.mark.slow

NANSCOPE = Path(sysconfig.get_path("scripts")) / "nanscope"
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}
FAULT = """\
import torch
torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    p = torch.sigmoid(model(torch.rand(6, 3)))
    if step == 1:
        p = p * 0
    loss = -torch.log(p).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
CLAMPED = "    loss = -torch.log(p.clamp(min=1e-8)).mean()\n"


def fix(folder: Path, *options: str, program: str = FAULT, **how):
    if not (folder / "train.py").exists():
        (folder / "train.py").write_text(program)
    command = [NANSCOPE, "fix", "--yes", "--json", folder / "fix.json", *options]
    command += ["--max-time", "100000"]  # a busy machine is not a failure
    if "--from" not in options:
        command.append("train.py")
    done = subprocess.run(
        command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=3000, **how
    )
    path = folder / "fix.json"
    report = read_report(path.read_text()) if path.exists() else None
    path.unlink(missing_ok=True)
    return done, report


def tree(folder: Path) -> dict[str, str]:
    files = sorted(p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def test_a_verified_patch_applies_with_patch_and_git(tmp_path):
    done, report = fix(tmp_path)
    assert done.returncode == 0, done.stderr
    finding = report["findings"][0]
    assert finding["fix"]["id"] == "clamp_before_log"
    assert finding["fix"]["files"] == ["train.py"]
    assert not finding["fix"]["changes_training"] and not finding["fix"]["workaround"]
    assert finding["verification"]["status"] == "verified"
    assert finding["verification"]["steps"] == 3
    assert finding["verification"]["healthy_steps_unchanged"] is True
    assert "Fix\n" in done.stderr and "verified, 3 steps run" in done.stderr
    assert (tmp_path / "train.py").read_text() == FAULT
    for number, command in enumerate((["patch", "-p1"], ["git", "apply"])):
        copy = tmp_path / f"copy{number}"
        copy.mkdir()
        (copy / "train.py").write_text(FAULT)
        if command[0] == "git":
            subprocess.run(["git", "init", "-q"], cwd=copy, check=True)
        subprocess.run(
            command, cwd=copy, input=finding["fix"]["diff"], text=True, check=True,
            capture_output=True,
        )  # fmt: skip
        assert CLAMPED in (copy / "train.py").read_text()


def test_apply_keeps_mode_and_line_endings(tmp_path):
    path = tmp_path / "train.py"
    path.write_bytes(FAULT.replace("\n", "\r\n").encode())
    path.chmod(0o755)
    done, report = fix(tmp_path, "--apply")
    assert done.returncode == 0, done.stderr
    assert "Fix Applied" in done.stderr
    assert report["findings"][0]["fix"]["applied"] is True
    assert CLAMPED.replace("\n", "\r\n").encode() in path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o755


def test_apply_refuses_a_file_outside_the_project(tmp_path):
    home, project = tmp_path / "elsewhere", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    (home / "train.py").write_text(FAULT)
    (project / "train.py").symlink_to(home / "train.py")
    done, _ = fix(project, "--apply")
    assert "lies outside" in done.stderr
    assert (home / "train.py").read_text() == FAULT
    assert done.returncode == 3


def test_a_clean_program(tmp_path):
    done, report = fix(tmp_path, program="import torch\nprint(torch.ones(3).log().sum().item())\n")
    assert done.returncode == 0
    assert report["verdict"] == "clean"
    assert "nothing to fix" in done.stderr
    assert done.stdout == "0.0\n"


def test_a_program_that_fails_for_another_reason(tmp_path):
    done, report = fix(tmp_path, program="import torch\ntorch.ones(3)\nraise SystemExit(9)\n")
    assert done.returncode == 9
    assert "nothing to fix" in done.stderr and "another reason" in done.stderr
    assert report["findings"] == []


def test_nothing_holds(tmp_path):
    """The program decides by itself to fail."""
    program = FAULT + "raise SystemExit(5)\n"
    done, report = fix(tmp_path, program=program)
    assert done.returncode == 4, done.stderr
    finding = report["findings"][0]
    assert finding["fix"] is None
    assert finding["verification"]["status"] == "failed"
    assert any("status 5" in check for check in finding["verification"]["checks"])


def test_a_program_that_is_not_deterministic(tmp_path):
    program = FAULT.replace("torch.manual_seed(0)", "torch.seed()")
    done, report = fix(tmp_path, program=program)
    finding = report["findings"][0]
    assert finding["verification"]["status"] == "inconclusive", done.stderr
    assert "not deterministic" in finding["verification"]["detail"]
    assert done.returncode == 3


TWO_FAULTS = """\
import torch
q = torch.tensor([1.0, 0.0, 0.0, 0.0], requires_grad=True)
s2 = (q[1:] ** 2).sum()
s = torch.sqrt(s2)
k = torch.where(s2 > 0, 2.0 * torch.atan2(s, q[0]) / s, torch.tensor(2.0))
(k * q[1:]).sum().backward()
print(q.grad)
"""


def test_two_faults_are_fixed_one_after_the_other(tmp_path):
    done, report = fix(tmp_path, program=TWO_FAULTS)
    assert done.returncode == 0, done.stderr
    finding = report["findings"][0]
    assert "2 faults" in finding["verification"]["detail"]
    new = [line for line in finding["fix"]["diff"].splitlines() if line.startswith("+s = ")]
    assert new == ["+s = torch.sqrt(torch.where(s2 > 0, s2, 1.0))"]


TWO_BAD_STEPS = """\
import torch
w = torch.ones(3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.01)
for step in range(9):
    x = torch.full((3,), 0.0 if step == 4 else 2.0)
    y = torch.full((3,), 0.0 if step == 6 else 3.0)
    loss = torch.log(w * x).mean() + (w / (y * w.detach())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.slow
def test_the_losses_without_the_patch_are_those_of_the_program_as_it_was(tmp_path):
    done, report = fix(tmp_path, program=TWO_BAD_STEPS)
    assert done.returncode == 0, done.stderr
    verification = report["findings"][0]["verification"]
    assert "2 faults" in verification["detail"]
    bad = [isinstance(loss, str | None) for loss in verification["losses_before"]]
    assert bad.index(True) == 4  # not 6, where it fails with the first patch alone
    assert all(isinstance(loss, float) for loss in verification["losses_after"])


def test_from_a_capture_without_a_run(tmp_path):
    (tmp_path / "train.py").write_text(FAULT)
    command = [NANSCOPE, "run", "-q", "-o", "first.nsc", "train.py"]
    subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True)
    done, report = fix(tmp_path, "--max-runs", "0", "--from", "first.nsc")
    assert done.returncode == 3, done.stderr
    finding = report["findings"][0]
    assert "clamp(min=1e-8)" in finding["fix"]["diff"]
    assert finding["verification"]["status"] == "not_run"


def test_what_was_tried_is_a_record_of_the_capture(tmp_path):
    (tmp_path / "train.py").write_text(FAULT)
    command = [NANSCOPE, "run", "-q", "-o", "first.nsc", "train.py"]
    subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True)
    done, report = fix(tmp_path, "--from", "first.nsc")
    assert done.returncode == 0, done.stderr
    finding = read_report(_core.Capture.read(str(tmp_path / "first.nsc")).json())["findings"][0]
    assert finding == report["findings"][0]
    assert finding["tried"][0]["status"] == "verified"
    before, after = (finding["verification"][key] for key in ("losses_before", "losses_after"))
    assert before[0] == after[0] and before[1] == "inf" and isinstance(after[1], float)


OVERWRITES = FAULT + (
    'open("result.txt", "w").write("done")\n'
    "import os\n"
    "known = os.environ.get('NANSCOPE_VERIFY'), os.environ.get('WANDB_MODE')\n"
    "raise SystemExit(0 if known == ('1', 'disabled') else 7)\n"
)
LOGS = FAULT.replace(
    "    opt.step()\n",
    '    opt.step()\n    import os\n    os.makedirs("logs", exist_ok=True)\n'
    '    open(f"logs/{step}.txt", "a").write("step")\n',
)
LOGS += "torch.linalg.svd(model.weight.detach())  # without the patch it raises\n"
READS = "import sys\ncount = int(sys.stdin.readline())\nassert count == 3\n" + FAULT.replace(
    "range(3)", "range(count)"
)


@pytest.mark.parametrize("program", [OVERWRITES, LOGS, READS], ids=["overwrites", "logs", "reads"])
def test_files_are_as_before(tmp_path, program):
    (tmp_path / "train.py").write_text(program)
    (tmp_path / "result.txt").write_text("kept")
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "0.txt").write_text("kept")
    before = tree(tmp_path)
    done, report = fix(tmp_path, input="3\n")
    assert done.returncode == 0, done.stderr
    assert report["findings"][0]["verification"]["status"] == "verified"
    assert [f["level"] for f in report["findings"]].count("error") == 1
    assert tree(tmp_path) == before


def test_interrupted_it_leaves_nothing_behind(tmp_path):
    (tmp_path / "train.py").write_text("import os, signal, time\nprint(1, flush=True)\n"
                                       "time.sleep(600)\n")  # fmt: skip
    spare = tmp_path / "tmp"
    spare.mkdir()
    process = subprocess.Popen(
        [NANSCOPE, "fix", "train.py"], cwd=tmp_path, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # tests in the background
        env={**ENVIRONMENT, "TMPDIR": str(spare)},
    )  # fmt: skip
    assert process.stdout.readline() == b"1\n"
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=600)
    assert process.returncode == 130
    assert list(spare.iterdir()) == []
