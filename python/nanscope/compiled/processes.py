"""Programs that torch's compiler starts: g++, and a pool of workers that compile."""

from __future__ import annotations

import os
import sys

_COMPILER = os.path.join("torch", "_inductor", "")


def is_compiler_at_work() -> bool:
    """Asked where a program is started: whether the compiler starts it."""
    frame = sys._getframe(1)
    while frame is not None:
        if _COMPILER in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False
