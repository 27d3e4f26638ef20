"""What the source of a program says about values that are not finite."""

from __future__ import annotations

import os
import re
from functools import lru_cache

from nanscope.telling.stack import START_DIRECTORY

# isfinite(x), np.isnan, is_nan; x != x.
_TEST = re.compile(r"\bis_?(finite|nan|inf)\b|\b(\w+(?:\.\w+)*)\s*!=\s*\2\b(?![.\w(\[])")


def tests_for_nonfinite(files: list[str]) -> bool:
    """Whether one of these files tests for NaN or Inf: a program that expects them."""
    return any(_tests(os.path.join(START_DIRECTORY or "", name)) for name in set(files) if name)


@lru_cache(256)
def _tests(path: str) -> bool:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return any(_TEST.search(line.partition("#")[0]) for line in file)
    except OSError:
        return False  # a notebook's cell, exec
