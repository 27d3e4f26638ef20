"""Unified diffs that `patch -p1` and `git apply` take."""

from __future__ import annotations

import difflib
import re

NO_NEWLINE = "\\ No newline at end of file\n"


def unified(name: str, before: str, after: str) -> str:
    """`name` is the file as the user would type it; line endings are kept."""
    old, new = _lines(before), _lines(after)
    clean = name.lstrip("/")
    text = ""
    for line in difflib.unified_diff(old, new, f"a/{clean}", f"b/{clean}", n=3):
        text += line
        if not line.endswith("\n"):
            text += "\n" + NO_NEWLINE
    return text


def _lines(text: str) -> list[str]:
    """Only a newline ends a line of a diff; a carriage return is part of it."""
    return re.findall(r"[^\n]*\n|[^\n]+$", text)
