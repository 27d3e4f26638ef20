"""`nanscope doctor`: what is installed, what will be watched here, and why something will not."""

from __future__ import annotations

import importlib.metadata
import platform
import sys

from nanscope import support

NOT_WATCHED = (
    "quantized tensors, devices that cannot be looked into, "
    "compiled regions that cannot be followed, and other Python processes that the program starts"
)
PROCESSES = (
    "child processes: watched when they are forked, or started by multiprocessing "
    "(spawn, forkserver); each writes a capture of its own"
)


def examine() -> tuple[int, str]:
    """Exit status and text."""
    lines = [f"nanscope {_version('nanscope')}", f"python   {platform.python_version()}"]
    problem = support.platform_problem()
    version = _version("torch")
    lines.append(f"torch    {version or 'not installed'}")
    if problem is None and version is None:
        problem = f"torch is not installed here: pip install torch=={support.TORCH[-1]}.0"
    if problem is None:
        problem = support.torch_problem(version)
    if problem is None:
        problem = _load()
    if problem is not None:
        return 1, "\n".join([*lines, f"not watched: {problem}"]) + "\n"
    lines[-1] = f"torch    {_build()}"
    lines.append(f"adapter  {_adapter()}")
    lines.append(f"watched: {_load_counts()}")
    lines.append(PROCESSES)
    lines += _devices()
    lines.append(f"not watched, and counted when it happens: {NOT_WATCHED}")
    return 0, "\n".join(lines) + "\n"


def carry_out() -> int:
    status, text = examine()
    sys.stdout.write(text)
    return status


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _load() -> str | None:
    try:
        import torch  # noqa: F401

        from nanscope import _torch  # noqa: F401
    except ImportError as error:
        return f"the adapter cannot be loaded: {error}"
    return None


def _build() -> str:
    """The torch that runs, and what it was built for."""
    import torch

    for name in ("cuda", "hip", "xpu"):
        if version := getattr(torch.version, name, None):
            return f"{torch.__version__}, a build for {name.upper()} {version}"
    return f"{torch.__version__}, a build for the CPU"


def _adapter() -> str:
    """The adapter that was chosen, and those that are there for another torch."""
    import torch

    chosen = support.minor_of(torch.__version__)
    others = [minor for minor in support.adapters() if minor != chosen]
    return f"for torch {chosen}" + (f"; there too: {', '.join(others)}" if others else "")


def _devices() -> list[str]:
    """A line about devices that this torch has kernels for, if there are any."""
    from nanscope import _torch

    found = [f"{name}, {kernels:,} kernels" for name, kernels in _torch.other_devices()]
    if not found:
        return []
    return [f"other devices: {'; '.join(found)}; `nanscope doctor --device NAME` tries one"]


def _load_counts() -> str:
    from nanscope import _torch

    kernels, others = _torch.install()
    return f"{kernels:,} kernels of torch, {others} of other libraries, on the CPU"
