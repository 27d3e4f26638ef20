"""`nanscope scan` at a terminal: a line says how far it is, and Ctrl-C ends it at once."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
from pathlib import Path

import numpy

from watched import NANSCOPE

LARGE = 1 << 38  # elements; a hole in the file, which nobody can read to its end here


def write_hole(path: Path) -> None:
    """A float32 array that takes no room on the disk."""
    with path.open("wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (LARGE,)}
        numpy.lib.format.write_array_header_1_0(file, header)
        file.truncate(file.tell() + 4 * LARGE)


def until(descriptor: int, word: str) -> str:
    """What a terminal shows, up to a word."""
    shown = b""
    while word.encode() not in shown:
        shown += os.read(descriptor, 4096)
    return shown.decode()


def as_at_a_prompt() -> None:
    """A shell's background job, as CI may be, ignores Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_says_how_far_it_is_and_ends_by_ctrl_c(tmp_path: Path) -> None:
    write_hole(tmp_path / "large.npy")
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [NANSCOPE, "scan", "large.npy"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=theirs,
        preexec_fn=as_at_a_prompt,
    )
    os.close(theirs)
    try:
        assert "% of 1099.5 GB" in until(ours, "GB")
        child.send_signal(signal.SIGINT)
        assert child.wait(600) == -signal.SIGINT
        assert child.stdout.read() == b""
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
        os.close(ours)


def test_in_a_pipe_nothing_is_said(tmp_path: Path) -> None:
    now, then = numpy.ones(1 << 20, dtype=numpy.float32), numpy.ones(1 << 20, dtype=numpy.float32)
    now[7] = numpy.nan
    numpy.save(tmp_path / "now.npy", now)
    numpy.save(tmp_path / "then.npy", then)
    command = [NANSCOPE, "scan", "now.npy", "--against", "then.npy"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 3 and done.stderr == ""
    assert "1 tensor went bad since then.npy" in done.stdout
