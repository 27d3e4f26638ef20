"""The Pythons of this machine, for tests that hold what must be the same on each."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ASK = """
import json, sys, sysconfig
print(json.dumps([list(sys.version_info[:2]), sys.implementation.name,
                  sysconfig.get_config_var("Py_GIL_DISABLED") or 0,
                  sysconfig.get_path("include"), sysconfig.get_config_var("EXT_SUFFIX")]))
"""


@dataclass(frozen=True)
class Python:
    executable: str
    version: tuple[int, int]
    free_threaded: bool
    include: Path
    suffix: str

    def __str__(self) -> str:
        return f"{self.version[0]}.{self.version[1]}{'t' if self.free_threaded else ''}"


def candidates() -> list[str]:
    """The interpreter that runs now, those on PATH and those of pyenv."""
    named = [f"python3.{minor}{kind}" for minor in range(10, 16) for kind in ("", "t")]
    found = [sys.executable, *filter(None, map(shutil.which, named))]
    return found + [str(file) for file in Path.home().glob(".pyenv/versions/3.*/bin/python3")]


def ask(executable: str) -> Python | None:
    asked = subprocess.run([executable, "-I", "-c", ASK], capture_output=True, text=True)
    if asked.returncode != 0:
        return None
    version, kind, free, include, suffix = json.loads(asked.stdout)
    if kind != "cpython" or not Path(include, "Python.h").exists():
        return None
    return Python(executable, tuple(version), bool(free), Path(include), suffix)


def pythons() -> list[Python]:
    """Every CPython that is found with its headers; of two of a minor the first."""
    found: dict[str, Python] = {}
    for executable in candidates():
        python = ask(executable)
        if python is not None and python.version >= (3, 10):
            found.setdefault(str(python), python)
    return sorted(found.values(), key=lambda python: python.version)
