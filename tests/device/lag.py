"""`import lag`: the test device, compiled once for this torch, as torch.device("lag").

The environment says how it works: LAG_MODE=lazy (the default), threaded or at_once; LAG_BYTES, how
much memory it has. Its name is as long as "cpu", so that a program that is moved to it keeps its
columns.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import os
import subprocess
import sys
import types
from pathlib import Path

import torch

HERE = Path(__file__).resolve().parent
CACHE = HERE.parent.parent / "build" / "lag"
MODES = {"at_once": 0, "lazy": 1, "threaded": 2}


def compiled(source: str, *needed: Path) -> Path:
    """The library of this file; where several ask at once, one compiles it."""
    sources = [*sorted(needed), HERE / source]
    text = b"".join(path.read_bytes() for path in sources) + torch.__version__.encode()
    library = CACHE / f"{Path(source).stem}-{hashlib.sha256(text).hexdigest()[:16]}.so"
    if library.exists():
        return library
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not library.exists():
            compile_into(library, HERE / source)
    return library


def compile_into(library: Path, source: Path) -> None:
    folder = Path(torch.__file__).parent
    made = library.with_suffix(f".{os.getpid()}.tmp")
    command = [
        os.environ.get("CXX", "g++"),
        "-std=c++20",
        "-O0",
        "-U_FORTIFY_SOURCE",
        "-fPIC",
        "-shared",
        "-w",
    ]
    command += [f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}"]
    command += [f"-I{folder / 'include'}", str(source), "-o", str(made)]
    command += [f"-L{folder / 'lib'}", "-ltorch_cpu", "-lc10", f"-Wl,-rpath,{folder / 'lib'}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{source.name} does not compile:\n{done.stderr[-4000:]}")
    made.rename(library)


def load() -> ctypes.CDLL:
    loaded = ctypes.CDLL(str(compiled("lag_device.cc", *HERE.glob("lag_*.h"))))
    loaded.lag_own_kernels.argtypes = [ctypes.c_void_p]
    loaded.lag_ask_for_memory.argtypes = [ctypes.c_void_p]
    for name in ("waits", "launched", "waiting", "bytes_in_use", "waited_for_shape"):
        getattr(loaded, f"lag_{name}").restype = ctypes.c_uint64
    return loaded


def tell_the_watch() -> None:
    """The device computes by the CPU's kernels, and its memory may be kept: nanscope, if it is
    there, is told which ops are the device's own, and asked for memory."""
    if "nanscope" in sys.modules:
        from nanscope import _torch

        _library.lag_own_kernels(_torch.own_kernels_switch())
        _library.lag_ask_for_memory(_torch.kept_memory_switch())


def work_as(mode: str) -> None:
    _library.lag_work_as(MODES[mode])


def wait() -> None:
    torch.accelerator.synchronize()


def look_by_fake_cuda() -> ctypes.CDLL:
    """Nanscope is to look at this device by its kernel for CUDA, run by a fake driver."""
    from nanscope import _torch

    kernel = HERE.parent.parent / "adapters" / "torch" / "device" / "cuda_probe.cu"
    path = str(compiled("fake_cuda.cc", HERE / "fake_grid.h", kernel))
    fake = ctypes.CDLL(path)
    fake.fake_cuda_wrong.restype = ctypes.c_char_p
    fake.fake_cuda_launched.restype = ctypes.c_uint64
    fake.fake_cuda_work_on(_library.lag_to_kernel, _library.lag_put, _library.lag_wait)
    _torch.look_by_cuda_libraries("lag", path, path)
    return fake


def count(what: str) -> int:
    """waits, launched, waiting, bytes_in_use or waited_for_shape."""
    return getattr(_library, f"lag_{what}")()


_library = load()
tell_the_watch()
torch.utils.rename_privateuse1_backend("lag")
_module = types.ModuleType("torch.lag")
_module.is_available = lambda: True
_module.is_initialized = lambda: True
_module.device_count = lambda: 1
_module.current_device = lambda: 0
_module.synchronize = lambda device=None: wait()
_module._is_in_bad_fork = lambda: False
_module.manual_seed = _module.manual_seed_all = lambda seed: None  # it draws the CPU's numbers
_module.get_rng_state = lambda device=None: torch.get_rng_state()
_module.set_rng_state = lambda state, device=None: torch.set_rng_state(state)
_module.get_amp_supported_dtype = lambda: [torch.float16, torch.bfloat16, torch.float32]
torch._register_device_module("lag", _module)
torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)
work_as(os.environ.get("LAG_MODE", "lazy"))
