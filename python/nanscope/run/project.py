"""Defaults for options of `run`: `[tool.nanscope]` in pyproject.toml.

The file is that of the folder where the program is started, or of the nearest one above. An option
on the command line goes before; `allow` is added to.
"""

from __future__ import annotations

import os
import tomllib

from nanscope.telling.stack import START_DIRECTORY

# What each key must be.
KEYS: dict[str, type | tuple[type, ...]] = {
    "allow": list,
    "mode": str,
    "snapshot-every": (int, float),
    "keep-going": bool,
    "raise": bool,
    "strict": bool,
    "steps": int,
    "layer": str,
    "file": str,
    "json": str,
    "html": str,
}


class BadProject(Exception):
    """What is wrong in [tool.nanscope], a sentence."""


def defaults(folder: str | None = START_DIRECTORY) -> dict[str, object]:
    """The table, checked; empty without one."""
    path = _nearest(folder) if folder else None
    if path is None:
        return {}
    try:
        with open(path, "rb") as file:
            table = tomllib.load(file).get("tool", {}).get("nanscope", {})
    except (OSError, tomllib.TOMLDecodeError, AttributeError):
        return {}  # somebody else's affair
    for key, value in table.items():
        if key not in KEYS:
            raise BadProject(f"{path}: [tool.nanscope] has no key {key!r}.")
        if not isinstance(value, KEYS[key]) or (KEYS[key] is int and isinstance(value, bool)):
            raise BadProject(f"{path}: {key} in [tool.nanscope] cannot be {value!r}.")
    if not all(isinstance(place, str) for place in table.get("allow", [])):
        raise BadProject(f"{path}: allow in [tool.nanscope] is a list of FILE or FILE:LINE.")
    if table.get("mode", "exact") not in ("exact", "sentinel"):
        raise BadProject(f"{path}: mode in [tool.nanscope] is exact or sentinel.")
    # Places are written as seen from the file.
    below = os.path.dirname(path)
    for key in ("file", "json", "html"):
        if table.get(key):
            table[key] = os.path.join(below, table[key])
    table["allow"] = [os.path.join(below, place) for place in table.get("allow", [])]
    return table


def _nearest(folder: str) -> str | None:
    while True:
        path = os.path.join(folder, "pyproject.toml")
        if os.path.isfile(path):
            return path
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
