"""`check` of JAX arrays, of any DLPack exporter, and of device arrays, which it must not read."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import nanscope
from nanscope import CheckFailed, Unreadable
from watched import ENVIRONMENT, ROOT

CUDA, CPU = 2, 1

JAX = """
import jax, jax.numpy as jnp, nanscope
for dtype in (jnp.float32, jnp.float16, jnp.bfloat16, jnp.complex64):
    x = jnp.ones((2, 3), dtype)
    assert nanscope.check(x) is x
    try:
        nanscope.check({"y": [x.at[1, 2].set(jnp.nan)]}, "out")
    except nanscope.CheckFailed as error:
        assert error.path == "out['y'][0]" and error.stats.indices == ((1, 2),), error
        assert error.stats.dtype == jnp.dtype(dtype).name
    else:
        raise AssertionError(dtype)
ints = jnp.arange(3)
assert nanscope.check(ints) is ints and nanscope.stats(ints).max == 2
grads = jax.grad(lambda x: jnp.sqrt(x).sum())(jnp.zeros(2))
assert nanscope.stats(grads).pos_inf == 2

@jax.jit
def traced(x):
    try:
        nanscope.check(x, "x")
    except nanscope.Unreadable as error:
        assert str(error).startswith("x cannot be looked into"), error
        print("traced: refused")
    return x

traced(jnp.ones(2))
print("done")
"""


def test_jax() -> None:
    """A process of its own: the package is not among those nanscope is tested with."""
    folders = list((ROOT / ".venv" / "packages").glob("lib/python3*/site-packages"))
    assert folders, "no packages: scripts/setup_packages.sh"
    env = {**ENVIRONMENT, "PYTHONPATH": os.fspath(folders[0]), "JAX_PLATFORMS": "cpu"}
    done = subprocess.run([sys.executable, "-c", JAX], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:2] == ["traced: refused", "done"]


class Exporter:
    """An array of no known library, with DLPack's protocol alone."""

    def __init__(self, array: np.ndarray, device: int = CPU) -> None:
        self.array = array
        self.device = device
        self.exports = 0

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0

    def __dlpack__(self, **options):
        self.exports += 1
        return self.array.__dlpack__(**options)


def test_any_dlpack_exporter_is_read_without_a_copy() -> None:
    memory = np.arange(6.0).reshape(2, 3)
    exporter = Exporter(memory.T)
    assert nanscope.check(exporter) is exporter
    memory[1, 2] = np.nan
    with pytest.raises(CheckFailed) as caught:
        nanscope.check(exporter)
    assert caught.value.stats.indices == ((2, 1),)


def as_cupy(kind: type) -> type:
    """The same class, from the module that CuPy's arrays are of."""
    return type("ndarray", (kind,), {"__module__": "cupy"})


def test_a_device_array_is_not_even_exported() -> None:
    array = as_cupy(Exporter)(np.array([np.nan]), CUDA)
    with pytest.raises(Unreadable) as caught:
        nanscope.check({"x": array}, "batch")
    assert str(caught.value) == (
        "batch['x'] is in the memory of a device (CUDA), not the host's; "
        "bring it to the host first: cupy.asnumpy(batch['x'])"
    )
    assert array.exports == 0


class CudaArrayInterface:
    """An address that is none of this process's: reading it would end the tests."""

    __cuda_array_interface__ = {
        "shape": (4,),
        "typestr": "<f4",
        "data": (0x7F00DEAD0000, False),
        "version": 3,
    }


class CudaTensor(CudaArrayInterface):
    """What CuPy's arrays have, the three protocols together, all with that address."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA, 0

    def __dlpack__(self, **options):
        raise AssertionError("exported from the device")


@pytest.mark.parametrize("kind", [CudaArrayInterface, CudaTensor])
@pytest.mark.parametrize("use", [nanscope.check, nanscope.stats])
def test_cuda_array_interface_is_refused(kind: type, use) -> None:
    with pytest.raises(Unreadable, match=r"x is in the memory of a device .*cupy.asnumpy\(x\)"):
        use(as_cupy(kind)(), "x")


class Liar(Exporter):
    """Says CPU, and exports a capsule of the device."""

    def __dlpack__(self, **options):
        import ctypes

        capsule = self.array.__dlpack__()
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        tensor = pointer(capsule, b"dltensor")
        # DLTensor: data, then device_type.
        ctypes.c_int32.from_address(tensor + 8).value = CUDA
        return capsule


def test_the_capsule_has_the_last_word_about_the_device() -> None:
    with pytest.raises(Unreadable, match="in a device's memory"):
        nanscope.check(Liar(np.array([np.nan])))


def test_what_is_masked_is_not_there() -> None:
    x = np.ma.array([1.0, np.nan, 2.0], mask=[False, True, False])
    assert nanscope.check(x) is x
    with pytest.raises(CheckFailed):
        nanscope.check(np.ma.array([1.0, np.nan], mask=[True, False]))
