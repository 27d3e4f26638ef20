"""Where nanscope works: Linux x86-64, CPython 3.11, torch 2.13.

Each question is answered by None or by one sentence that names what is needed. Nothing is imported
here that a program would not have loaded anyway.
"""

import os
import sys

TORCH = "2.13"
PYTHON = (3, 11)


def platform_problem() -> str | None:
    """Why nanscope cannot work on this system or in this interpreter."""
    system = os.uname() if hasattr(os, "uname") else None
    if sys.platform != "linux" or system is None or system.machine != "x86_64":
        here = f"{system.sysname} on {system.machine}" if system else sys.platform
        return f"nanscope runs on Linux x86-64; this is {here}."
    if sys.implementation.name != "cpython" or sys.version_info[:2] != PYTHON:
        here = f"{sys.implementation.name} {sys.version_info[0]}.{sys.version_info[1]}"
        return f"nanscope runs on CPython {PYTHON[0]}.{PYTHON[1]}; this is {here}."
    return None


def torch_problem(version: str) -> str | None:
    """Why nanscope cannot watch a torch whose `torch.__version__` is this."""
    if version.split(".")[:2] == TORCH.split("."):
        return None
    return f"nanscope watches torch {TORCH}; this is torch {version}: pip install torch=={TORCH}.0"
