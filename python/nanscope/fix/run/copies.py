"""Copies the working folder for a run, where there are no namespaces.

What the program writes by a relative path is thrown away with the copy; what it writes elsewhere is
written for real.
"""

from __future__ import annotations

import os
import shutil

MOST_BYTES = 64 << 20
MOST_FILES = 5000
LEFT_OUT = {".git", "__pycache__"}


def is_small(folder: str) -> bool:
    """Whether the folder can be copied for each run."""
    size = count = 0
    for place, names, files in os.walk(folder):
        names[:] = [name for name in names if name not in LEFT_OUT]
        count += len(files)
        for name in files:
            try:
                size += os.lstat(os.path.join(place, name)).st_size
            except OSError:
                pass  # gone meanwhile
        if size > MOST_BYTES or count > MOST_FILES:
            return False
    return True


def copy(folder: str, to: str, except_for: str) -> None:
    def left_out(place: str, names: list[str]) -> set[str]:
        ours = {n for n in names if os.path.join(place, n) == except_for}
        return ours | (LEFT_OUT & set(names))

    shutil.copytree(folder, to, symlinks=True, ignore=left_out)


def moved(path: str, folder: str, to: str) -> str:
    """Names the same file in the copy, if it is below the folder."""
    home, full = os.path.realpath(folder), os.path.realpath(path)
    if not full.startswith(home + os.sep):
        return path
    return os.path.join(to, os.path.relpath(full, home))
