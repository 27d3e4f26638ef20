"""Work that takes long says so on a terminal, and nowhere else."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from nanscope.run import progress
from nanscope.run.progress import Seconds, counted, wait_for


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_line_comes_after_two_seconds_and_goes(capsys: pytest.CaptureFixture) -> None:
    clock = Clock()
    line = Seconds("looking for a patch", True, clock)
    clock.now += 1.9
    line.look()
    assert capsys.readouterr().err == ""
    clock.now += 1.1
    line.look()
    shown = capsys.readouterr().err
    assert shown == "\rnanscope: looking for a patch, 3 s"
    line.close()
    assert capsys.readouterr().err == "\r" + " " * (len(shown) - 1) + "\r"


def test_in_a_pipe_nothing_is_said(capsys: pytest.CaptureFixture) -> None:
    clock = Clock()
    line = Seconds("looking for a patch", None, clock)  # stderr is no terminal here
    clock.now += 60
    line.look()
    line.close()
    assert capsys.readouterr().err == ""


def test_what_a_process_gives_comes_whole() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", "print('x' * 5)"], stdout=subprocess.PIPE
    ) as child:
        answer, _ = wait_for(lambda s: child.communicate(timeout=s), "waiting", 600, False)
    assert answer == b"xxxxx\n"


def test_patience_ends() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        with pytest.raises(subprocess.TimeoutExpired):
            wait_for(child.wait, "waiting", 0.0, False)
        child.kill()


def test_what_cannot_say_how_far_it_is_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = threading.Event()
    monkeypatch.setattr(progress, "is_terminal", lambda: True)
    monkeypatch.setattr(Seconds, "look", lambda self: looked.set())
    with counted("telling wandb"):
        assert looked.wait(600)
    assert "nanscope-seconds" not in {thread.name for thread in threading.enumerate()}


def test_what_is_counted_for_nobody_has_no_thread() -> None:
    with counted("telling wandb"):  # stderr is no terminal here
        assert "nanscope-seconds" not in {thread.name for thread in threading.enumerate()}
