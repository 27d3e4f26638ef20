"""Where nanscope works: Linux x86-64, CPython 3.11 to 3.13, torch 2.7 to 2.15.

Each question is answered by None or by one sentence that names what is needed. Nothing is imported
here that a program would not have loaded anyway.
"""

import os
import sys

# One line each: CMake reads them.
TORCH = ("2.7", "2.8", "2.9", "2.10", "2.11", "2.12", "2.13", "2.14", "2.15")
PYTHON = ("3.11", "3.12", "3.13")

WHY_NOT = {
    "3.10": ", which keeps no columns of expressions",
    "3.14": ", which has not been tried yet",
}


def platform_problem() -> str | None:
    """Why nanscope cannot work on this system or in this interpreter."""
    system = os.uname() if hasattr(os, "uname") else None
    if sys.platform != "linux" or system is None or system.machine != "x86_64":
        here = f"{system.sysname} on {system.machine}" if system else sys.platform
        return f"nanscope runs on Linux x86-64; this is {here}."
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    here = f"{sys.implementation.name} {version}"
    if sys.implementation.name != "cpython" or version not in PYTHON:
        why = WHY_NOT.get(version, "") if sys.implementation.name == "cpython" else ""
        return f"nanscope runs on CPython {PYTHON[0]} to {PYTHON[-1]}; this is {here}{why}."
    if is_free_threaded():
        return f"nanscope needs the GIL; this is a free-threaded {here}: use the ordinary build."
    return None


def is_free_threaded() -> bool:
    return "t" in getattr(sys, "abiflags", "")


def torch_problem(version: str) -> str | None:
    """Why nanscope cannot watch a torch whose `torch.__version__` is this."""
    minor = minor_of(version)
    if minor not in TORCH:
        return (
            f"nanscope watches torch {TORCH[0]} to {TORCH[-1]}; this is torch {version}: "
            f"pip install torch=={TORCH[-1]}.0"
        )
    built = adapters()
    if minor in built:
        return None
    if not built:
        return "nanscope has no torch adapter here, install nanscope again."
    return (
        f"this nanscope has adapters for torch {' and '.join(built)}; this is torch {version}: "
        "install nanscope again beside this torch (from source that needs g++), "
        f"or pip install torch=={built[-1]}.0"
    )


def minor_of(version: str) -> str:
    return ".".join(version.split(".")[:2])


def adapter_of(version: str) -> str:
    """The module for this torch: _torch_2_13."""
    return "_torch_" + minor_of(version).replace(".", "_")


def adapters() -> list[str]:
    """The minors of torch that this installation was built for, oldest first."""
    names = {name.split(".")[0] for name in os.listdir(os.path.dirname(__file__))}
    return [minor for minor in TORCH if adapter_of(minor) in names]
