"""What a terminal shows while pip builds, on a project of two steps with our build backend."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PYPROJECT = """\
[build-system]
requires = []
build-backend = "build_backend"
backend-path = ["."]
[project]
name = "two-steps"
version = "1"
[tool.scikit-build]
wheel.packages = []
"""
CMAKE_LISTS = """\
cmake_minimum_required(VERSION 3.25)
project(two_steps LANGUAGES NONE)
add_custom_command(OUTPUT first COMMAND "${CMAKE_COMMAND}" -E touch first)
add_custom_command(OUTPUT second COMMAND "${CMAKE_COMMAND}" -E touch second DEPENDS first)
add_custom_target(steps ALL DEPENDS second)
"""


@pytest.fixture
def project(root: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "two steps"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(PYPROJECT)
    (folder / "CMakeLists.txt").write_text(CMAKE_LISTS)
    (folder / "build_backend.py").write_text((root / "scripts/build_backend.py").read_text())
    return folder


def pip_wheel(*options: str) -> list[str]:
    pip = [sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-index"]
    return [*pip, *options, "."]


def in_terminal(command: list[str], folder: Path, **variables: str) -> str:
    """What a command that has a terminal of its own, and its foreground, shows there."""
    terminal, side_of_program = os.openpty()
    process = subprocess.Popen(
        ["setsid", "--ctty", *command],
        cwd=folder,
        env={**os.environ, "TERM": "xterm", **variables},
        stdin=side_of_program,
        stdout=side_of_program,
        stderr=side_of_program,
    )
    os.close(side_of_program)
    shown = b""
    try:
        while part := os.read(terminal, 65536):
            shown += part
    except OSError:  # nobody has the other side any more
        pass
    os.close(terminal)
    assert process.wait() == 0, shown.decode()
    return shown.decode()


def steps(shown: str) -> list[str]:
    return re.findall(r"compiling, step (\d+ of \d+)", shown)


def test_each_step_is_shown_and_the_last_removed(project):
    shown = in_terminal(pip_wheel(), project)

    assert steps(shown) == ["1 of 2", "2 of 2"]
    last = shown.rindex("2 of 2")
    assert shown.index("\x1b[K\x1b8", last) < shown.index("done", last)
    assert "Successfully built two-steps" in shown
    assert len(list(project.glob("*.whl"))) == 1


@pytest.mark.parametrize("option", ["-q", "-v", "--verbose"])
def test_pip_that_was_told_what_to_show_shows_that(project, option):
    shown = in_terminal(pip_wheel(option), project)

    assert steps(shown) == []
    assert ("[2/2] Generating second" in shown) == (option != "-q")


def test_a_terminal_that_cannot_move_its_cursor_is_left_alone(project):
    assert steps(in_terminal(pip_wheel(), project, TERM="dumb")) == []


def test_a_background_job_does_not_write_to_the_terminal(project):
    # Job control gives the job a group of its own, which has not the foreground.
    job = ["bash", "-c", 'set -m; "$@" & wait $!', "bash", *pip_wheel()]

    shown = in_terminal(job, project)

    assert steps(shown) == []
    assert "Successfully built two-steps" in shown


def test_without_a_terminal_nothing_is_different(project):
    outcome = subprocess.run(
        pip_wheel(),
        cwd=project,
        check=True,
        capture_output=True,
        text=True,
        start_new_session=True,
    )

    assert steps(outcome.stdout + outcome.stderr) == []
    assert "Successfully built two-steps" in outcome.stdout
