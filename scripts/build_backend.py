"""What `pip install .` calls: scikit-build-core, with its progress shown. A source archive gets the
report page, built. Libraries that the system lacks are asked of PyPI: an install needs no root.

Pip keeps what a build says to itself, unless it fails or with -v: compiling looks like a hang. So
ninja's count is written straight to the terminal, in the line below pip's own, where there is a
terminal and pip runs in its foreground. Elsewhere nothing is different.
"""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from scikit_build_core import build as skbuild
from scikit_build_core.build import *  # noqa: F403  the hooks that need no progress

# A header of each library that the core is compiled with, and the package that carries it.
LIBRARIES = {
    "fmt/format.h": "cmeel-fmt==12.2.0",
    "nlohmann/json.hpp": "nlohmann-json==3.12.0",
    "zlib.h": "cmeel-zlib==1.3.2",
}
STEP = re.compile(rb"^\[(\d+)/(\d+)\] ")


def get_requires_for_build_wheel(config_settings=None):
    missing = [package for header, package in LIBRARIES.items() if not is_there(header)]
    return [*skbuild.get_requires_for_build_wheel(config_settings), *missing]


def is_there(header: str) -> bool:
    """Does the compiler find it by itself? Without a compiler CMake says what is needed."""
    compiler = os.environ.get("CXX", "c++").split()
    try:
        done = subprocess.run(
            [*compiler, "-x", "c++", "-E", "-o", os.devnull, "-"],
            input=f"#include <{header}>\n".encode(),
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return True
    return done.returncode == 0


def show_packages_to_cmake() -> None:
    """What those packages carry lies in folders of their own, in the environment of the build."""
    folders = [
        Path(place, name) for place in sys.path for name in ("cmeel.prefix", "nlohmann_json")
    ]
    found = [str(folder) for folder in folders if (folder / "include").is_dir()]
    others = os.environ.get("CMAKE_PREFIX_PATH")
    if found:
        os.environ["CMAKE_PREFIX_PATH"] = os.pathsep.join(found + [others] * bool(others))


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    show_packages_to_cmake()
    with progress():
        return skbuild.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory, config_settings=None):
    with page_in_the_source():
        return skbuild.build_sdist(sdist_directory, config_settings)


@contextlib.contextmanager
def page_in_the_source():
    """The report page, built, stands in web/ meanwhile: who installs the archive needs no node."""
    page = Path("web/report.html").resolve()
    if page.exists():  # an archive is made of an archive
        yield
        return
    tools = [shutil.which(tool) for tool in ("cmake", "node", "npm")]
    try:
        if all(tools):
            build_page(page, *tools)
        else:
            print("Without the report page: cmake, node and npm make it.", file=sys.stderr)
        yield
    finally:
        page.unlink(missing_ok=True)


def build_page(page: Path, cmake: str, node: str, npm: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        settings = {"SOURCE": page.parent, "BUILD": folder, "OUT": page, "NODE": node, "NPM": npm}
        words = [f"-D{name}={value}" for name, value in settings.items()]
        subprocess.run([cmake, *words, "-P", "cmake/build_page.cmake"], check=True)
    if page.stat().st_size == 0:  # npm could not fetch
        page.unlink()


@contextlib.contextmanager
def progress():
    """Shows the steps of a build that are printed meanwhile, by this process and its children."""
    terminal = terminal_to_use()
    if terminal is None:
        yield
        return
    sys.stdout.flush()
    stdout = os.dup(1)
    reading, writing = os.pipe()
    os.dup2(writing, 1)
    os.close(writing)
    relay = threading.Thread(target=pass_on, args=(reading, stdout, terminal))
    relay.start()
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(stdout, 1)  # closes the pipe's last writing end, which ends the thread
        relay.join()
        os.close(stdout)
        os.close(terminal)


def terminal_to_use() -> int | None:
    """Pip's terminal, if pip is silent of its own accord and nothing else has the foreground."""
    if not pip_is_silent_by_default() or os.environ.get("TERM", "dumb") == "dumb":
        return None
    try:
        terminal = os.open("/dev/tty", os.O_WRONLY | os.O_NOCTTY)
    except OSError:
        return None
    if os.tcgetpgrp(terminal) == os.getpgrp():
        return terminal
    os.close(terminal)
    return None


def pip_is_silent_by_default() -> bool:
    """Is our parent pip, told neither to be verbose nor to be quiet?"""
    try:
        with open(f"/proc/{os.getppid()}/cmdline", "rb") as file:
            words = file.read().split(b"\0")
    except OSError:
        return False
    has_its_say = any(re.fullmatch(rb"-[qv]+|--quiet|--verbose", word) for word in words)
    has_its_say |= "PIP_QUIET" in os.environ or "PIP_VERBOSE" in os.environ
    return any(b"pip" in word for word in words[:3]) and not has_its_say


def pass_on(reading: int, stdout: int, terminal: int) -> None:
    """Hands everything from `reading` to `stdout`, and each step's number to the terminal."""
    with open(reading, "rb") as lines:
        for line in lines:
            write_all(stdout, line)
            if step := STEP.match(line):
                show(terminal, b"  compiling, step %s of %s" % step.groups())
    show(terminal, b"")


def show(terminal: int, text: bytes) -> None:
    # Make room below (index, up), keep the cursor, write there, return: pip's line is untouched.
    with contextlib.suppress(OSError):
        write_all(terminal, b"\x1bD\x1b[A\x1b7\x1b[B\r\x1b[K" + text + b"\x1b8")


def write_all(file: int, text: bytes) -> None:
    while text:
        text = text[os.write(file, text) :]
