"""Programs that train on several threads: Note [Leaves of other threads] in watch/owners.h."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from watched import ENVIRONMENT, watch

PROGRAM = Path(__file__).with_name("threads") / "six_threads.py"
BIRTH = next(
    number for number, line in enumerate(PROGRAM.read_text().splitlines(), 1) if "<- birth" in line
)


def run_in_a_block(folder: Path, *words: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, PROGRAM, "watch", *words],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_six_threads_that_clean_up_end_well(tmp_path: Path) -> None:
    seen = watch(PROGRAM, tmp_path)
    assert (seen.status, seen.out) == (0, "all have ended\n"), seen.err
    assert seen.report["verdict"] == "clean", seen.err


def test_a_fault_of_one_of_six_threads_is_found(tmp_path: Path) -> None:
    seen = watch(PROGRAM, tmp_path, args=("fault",))
    assert seen.status == 3, seen.err
    assert seen.error["origin"]["site"]["line"] == BIRTH
    assert seen.error["origin"]["op"] == "aten::log"


def test_six_threads_in_one_block(tmp_path: Path) -> None:
    done = run_in_a_block(tmp_path)
    assert (done.returncode, done.stdout) == (0, "all have ended\n"), done.stderr
    assert "rror" not in done.stderr


@pytest.mark.release
@pytest.mark.parametrize("attempt", range(20))
def test_it_is_not_luck(attempt: int, tmp_path: Path) -> None:
    done = run_in_a_block(tmp_path, "steps=150")
    assert (done.returncode, done.stdout) == (0, "all have ended\n"), done.stderr
    seen = watch(PROGRAM, tmp_path, args=("fault", "steps=100"))
    assert seen.status == 3, seen.err
    assert seen.error["origin"]["site"]["line"] == BIRTH


STILL_RUNS = """
import threading
import torch
import nanscope

began, ended = threading.Event(), threading.Event()
def wait_for_the_end():
    began.set()
    ended.wait()

def train():
    w = torch.ones(64, requires_grad=True)
    optimizer = torch.optim.SGD([w], 0.1)
    while not ended.is_set():
        optimizer.zero_grad()
        (w * 2).tanh().sum().backward()
        optimizer.step()
        {wait}

thread = threading.Thread(target=train)
with nanscope.watch() as watched:
    thread.start()
    began.wait()
    pass
ended.set()
thread.join()
print(watched.verdict, watched.report)
"""


@pytest.mark.parametrize(
    ("wait", "verdict", "words"),
    [
        ("began.set()", "unknown", "parameters, buffers and gradients of other threads"),
        ("wait_for_the_end()", "clean", "nothing went unwatched"),
    ],
    ids=["at work", "waiting"],
)
def test_what_a_running_thread_holds_at_the_end(
    wait: str, verdict: str, words: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", STILL_RUNS.format(wait=wait)],
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(verdict) and words in done.stdout, done.stdout
