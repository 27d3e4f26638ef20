"""`fix --from` a capture that others may have made: its command is shown, and run if told so."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path

import pytest

from nanscope.fix.verb.captured import Command
from watched import ENVIRONMENT, NANSCOPE

# What it does cannot be thrown away: it prints.
HOSTILE = """\
import sys, torch
print("owned", sys.argv[1:], flush=True)
w = torch.ones(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
p = w * 0
p.log().sum().backward()
opt.step()
"""
QUESTION = "[y/N]"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Holds hostile.nsc, whose command is `python 'a b.py' --touch owned`."""
    folder = tmp_path_factory.mktemp("captured")
    (folder / "a b.py").write_text(HOSTILE)
    command = [NANSCOPE, "run", "-q", "-o", "hostile.nsc", "a b.py", "--touch", "owned"]
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, timeout=900)
    assert done.returncode == 3 and (folder / "hostile.nsc").exists()
    return folder


def fix(folder: Path, *options: str) -> subprocess.CompletedProcess:
    command = [NANSCOPE, "fix", "--from", "hostile.nsc", *options]
    return subprocess.run(
        command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=900,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


def fix_at_a_terminal(folder: Path, answer: bytes) -> tuple[int, bytes]:
    """Status, and what the terminal shows of stdout and stderr."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [NANSCOPE, "fix", "--no-color", "--max-runs", "1", "--from", "hostile.nsc"],
        cwd=folder, env=ENVIRONMENT, stdin=theirs, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    answered = False
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:
            break  # the last one closed it
        if not part:
            break
        shown += part
        if not answered and QUESTION.encode() in shown:
            answered = True
            os.write(ours, answer)
    os.close(ours)
    return child.wait(), shown


def test_nothing_is_run_without_a_word_of_the_user(folder: Path) -> None:
    before = (folder / "hostile.nsc").read_bytes()
    done = fix(folder, "--apply")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        "nanscope fix: hostile.nsc says that it was made by: python 'a b.py' --touch owned",
        "nanscope fix: it is not run: give the script yourself, behind --from hostile.nsc, "
        "or --yes to run what the capture says.",
    ]
    assert (folder / "hostile.nsc").read_bytes() == before
    assert (folder / "a b.py").read_text() == HOSTILE


def test_a_proposal_needs_no_run(folder: Path) -> None:
    done = fix(folder, "--max-runs", "0")
    assert (done.returncode, done.stdout) == (3, "")
    assert "clamp_before_log" in done.stderr and "says that it was made by" not in done.stderr


@pytest.mark.slow
def test_yes_runs_what_is_shown(folder: Path) -> None:
    done = fix(folder, "--yes", "--max-runs", "1")
    assert done.stdout.startswith("owned ['--touch', 'owned']\n"), done.stderr
    assert done.stderr.startswith("nanscope fix: hostile.nsc says that it was made by: python")


@pytest.mark.slow
def test_the_command_line_is_stronger_than_the_capture(folder: Path) -> None:
    done = fix(folder, "--max-runs", "1", "a b.py", "mine")
    assert done.stdout.startswith("owned ['mine']\n"), done.stderr
    assert "says that it was made by" not in done.stderr


ANSWERS = [(b"n\n", False), (b"\n", False), pytest.param(b"y\n", True, marks=pytest.mark.slow)]


@pytest.mark.parametrize("answer, runs", ANSWERS)
def test_a_terminal_is_asked(folder: Path, answer: bytes, runs: bool) -> None:
    status, shown = fix_at_a_terminal(folder, answer)
    assert b"python 'a b.py' --touch owned" in shown
    assert (b"owned ['--touch', 'owned']" in shown) == runs
    if not runs:
        assert status == 2 and b"it is not run." in shown


def test_a_capture_of_code_names_no_program(tmp_path: Path) -> None:
    code = HOSTILE.replace("print", "0 and print")
    command = [NANSCOPE, "run", "-q", "-o", "hostile.nsc", "-c", code]
    subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, timeout=900)
    done = fix(tmp_path, "--yes")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "nanscope fix: hostile.nsc does not say which program it is of: give the script yourself.\n"
    )


@pytest.mark.parametrize(
    "word, shown",
    [
        ("train.py", "train.py"),
        ("a b;c", "'a b;c'"),
        ("\x1b[2K\rpython safe.py", r"$'\x1b[2K\x0dpython safe.py'"),
        ("it's\n", r"$'it\'s\x0a'"),
        ("\u202egpj.py", r"$'\U0000202egpj.py'"),
        ("\udcff", r"$'\xff'"),
    ],
)
def test_a_terminal_shows_and_does_not_obey(word: str, shown: str) -> None:
    assert Command("script", word).shown() == f"python {shown}"
    bash = subprocess.run(["bash", "-c", f"printf %s {shown}"], capture_output=True,
                          env={"LC_ALL": "C.UTF-8"}, check=True)  # fmt: skip
    assert bash.stdout == os.fsencode(word)
