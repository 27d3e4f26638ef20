"""A device for tests: PrivateUse1 over NumPy arrays, with a handful of ops. `import toy_device`."""

import numpy as np
import torch
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

_setup_privateuseone_for_python_backend("toy")

TYPES = {torch.float32: np.float32, torch.int64: np.int64, torch.bool: np.bool_}


def put(array, dtype=None):
    dtype = dtype or {np.dtype(v): k for k, v in TYPES.items()}[array.dtype]
    tensor = torch._C._acc.create_empty_tensor(array.shape, dtype)
    tensor.array = array
    return tensor


def array_of(tensor):
    return tensor.array if tensor.device.type == "toy" else tensor.numpy()


def kernel(name):
    return torch.library.impl(f"aten::{name}", "privateuseone")


@kernel("empty.memory_format")
def empty(size, dtype=None, layout=None, device=None, pin_memory=None, memory_format=None):
    dtype = dtype or torch.float32
    return put(np.zeros(size, TYPES[dtype]), dtype)


@kernel("_to_copy")
def to_copy(
    tensor,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=None,
    non_blocking=False,
    memory_format=None,
):
    array = array_of(tensor).copy()
    if device is not None and device.type == "cpu":
        return torch.from_numpy(array).clone()
    return put(array)


@kernel("copy_")
def copy_(target, source, non_blocking=False):
    array_of(target)[...] = array_of(source)
    return target


@kernel("log")
def log(tensor):
    with np.errstate(all="ignore"):
        return put(np.log(array_of(tensor)))


@kernel("sum")
def sum_(tensor, dtype=None):
    return put(np.asarray(array_of(tensor).sum()))


@kernel("_local_scalar_dense")
def item(tensor):
    return array_of(tensor).item()
