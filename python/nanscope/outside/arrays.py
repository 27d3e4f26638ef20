"""Arrays of anyone, looked at where they lie: torch, NumPy, and whatever has DLPack.

Neither torch nor NumPy is imported for it: a value of theirs brings them along. A tensor of torch
on a device is looked at there; other memory of devices is never read, and the error names the way
to bring it to the host.
"""

from __future__ import annotations

import math
import sys

from nanscope import _core
from nanscope.errors import Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

CPU = 1  # DLPack's kDLCPU
DEVICES = {2: "CUDA", 3: "CUDA's pinned host memory", 10: "ROCm", 13: "CUDA's managed memory"}
CANNOT_BE_NAN = ("float4_e2m1fn_x2",)
WAYS = "bring it to the host first: {}"

_torch_types: dict[object, str] = {}  # torch.float32: "float32"


def is_array(value: object) -> bool:
    """Whether this is an array, readable or not; a plain number is one too."""
    kind = type(value)
    if kind in (float, complex) or _is_tensor(value) or _is_numpy(value):
        return True
    if isinstance(value, type):
        return False
    return hasattr(kind, "__dlpack__") or hasattr(value, "__cuda_array_interface__")


def array_of(value: object, name: str) -> _core.Array | _OnDevice | None:
    """The array where it lies; None if its type cannot hold NaN or Inf and nobody can read it."""
    if type(value) in (float, complex):
        return _of_number(value)
    try:
        if _is_tensor(value):
            return _of_tensor(value, name)
        if _is_numpy(value):
            return _of_numpy(value, name)
        return _of_exporter(value, name)
    except Unreadable:
        raise
    except (TypeError, RuntimeError, NotImplementedError, BufferError, ValueError) as error:
        first_line = str(error).partition("\n")[0]
        raise Unreadable(f"{name} cannot be looked into: {first_line}.") from error


def is_plainly_finite(value: object) -> bool:
    """A quick yes for an ordinary CPU tensor. No means: look again, with care."""
    dtype = _torch_types.get(getattr(value, "dtype", None))
    if dtype is None:
        return False
    try:
        plain = value.is_cpu and value.layout is _strided
        return plain and _core.all_finite_at(value.data_ptr(), dtype, value.shape, value.stride())
    except (RuntimeError, TypeError, AttributeError):
        return False


def dtype_of(value: object) -> str:
    dtype = getattr(value, "dtype", type(value).__name__)
    return str(getattr(dtype, "name", dtype)).removeprefix("torch.")


# ------------------------------------------------------------------------------------- torch
_strided: object = None


def _is_tensor(value: object) -> bool:
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(value, getattr(torch, "Tensor", ())):
        return False
    if not _torch_types:
        _learn(torch)
    return True


def _learn(torch: ModuleType) -> None:
    global _strided
    names = "float32 float64 float16 bfloat16 complex64 complex128 complex32 bool uint8"
    names += " int8 int16 int32 int64 uint16 uint32 uint64 float8_e5m2 float8_e4m3fn"
    names += " float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu"
    _strided = torch.strided
    _torch_types.update({getattr(torch, name): name for name in names.split()})


def _of_tensor(tensor, name: str) -> _core.Array | None:
    torch = sys.modules["torch"]
    if tensor.device.type == "meta":
        raise Unreadable(f"{name} is on the meta device: it has a shape and no values.")
    if tensor.device.type != "cpu":
        return _of_device(tensor, name)
    with torch.no_grad():
        values = _elements(tensor)
        dtype = _torch_types.get(values.dtype)
        if dtype is None and dtype_of(values) in CANNOT_BE_NAN:
            return None
        if dtype is None:
            how = "dequantize" if tensor.is_quantized else "float"
            raise Unreadable(
                f"{name} is {dtype_of(tensor)}, whose elements nanscope cannot read; "
                f"check {name}.{how}() instead"
            )
        if values.is_neg() or values.is_conj():
            values = values.resolve_conj().resolve_neg()
    return _core.Array(values.data_ptr(), dtype, values.shape, values.stride(), values)


class _OnDevice:
    """A tensor on a device: it is looked at there, and copied where its numbers are needed."""

    def __init__(self, tensor, name: str, largest: float) -> None:
        self._tensor, self._name, self._largest = tensor, name, largest
        self._copy: _core.Array | None = None

    def all_finite(self) -> bool:
        return math.isfinite(self._largest)

    def __getattr__(self, asked: str):
        if self._copy is None:
            self._copy = _of_tensor(self._tensor.detach().cpu(), self._name)
        return getattr(self._copy, asked)


def _of_device(tensor, name: str) -> _core.Array | _OnDevice | None:
    torch = sys.modules["torch"]
    with torch.no_grad():
        values = _elements(tensor)
        if not (values.is_floating_point() or values.is_complex()) or values.numel() == 0:
            return _of_tensor(tensor.detach().cpu(), name)
        largest = _largest_on_device(values)
    if largest is None:
        way = WAYS.format(f"{name}.cpu()")
        raise Unreadable(f"{name} is in the memory of {tensor.device}, not the host's; {way}")
    return _OnDevice(tensor, name, largest)


def _largest_on_device(values) -> float | None:
    """None where the device cannot be looked into."""
    try:
        from nanscope import _torch
    except ImportError:
        return None
    return _torch.largest_on_device(values)


def _elements(tensor):
    """What a sparse or nested tensor keeps; the tensor itself if it is dense."""
    torch = sys.modules["torch"]
    if tensor.layout is torch.sparse_coo:
        return tensor.detach()._values()
    if tensor.layout is not torch.strided or tensor.is_nested:
        return tensor.detach().values()
    return tensor


# ------------------------------------------------------------------------------------- NumPy
def _is_numpy(value: object) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic))


def _of_numpy(array, name: str) -> _core.Array | None:
    numpy = sys.modules["numpy"]
    if isinstance(array, numpy.generic):
        array = numpy.asarray(array)
    masked = sys.modules.get("numpy.ma")
    if masked is not None and isinstance(array, masked.MaskedArray) and array.dtype.kind in "fc":
        array = array.filled(0)  # what is masked is not there
    dtype = array.dtype
    if dtype.kind in "iubSUVMmO" and not _core.is_readable_type(dtype.name):
        if dtype.kind in "OV":
            raise Unreadable(f"{name} is an array of {dtype.name}; check its fields or elements.")
        return None
    if not _core.is_readable_type(dtype.name):
        raise Unreadable(
            f"{name} is {dtype.name}, whose elements nanscope cannot read; "
            f"check {name}.astype('float64') instead"
        )
    if not dtype.isnative or any(step % dtype.itemsize for step in array.strides):
        # Bytes in the other order, or elements that overlap others' fields: the one copy we make.
        array = array.astype(dtype.newbyteorder("="), copy=True)
    strides = [step // array.itemsize for step in array.strides]
    return _core.Array(array.ctypes.data, dtype.name, array.shape, strides, array)


# -------------------------------------------------------------------------- DLPack and numbers
def _of_exporter(value, name: str) -> _core.Array:
    device = value.__dlpack_device__()[0] if hasattr(value, "__dlpack_device__") else None
    on_device = device is None and hasattr(value, "__cuda_array_interface__")
    if on_device or (device is not None and device != CPU):
        place = "CUDA" if device is None else DEVICES.get(int(device), f"DLPack device {device}")
        way = WAYS.format(_way_to_host(value, name))
        raise Unreadable(f"{name} is in the memory of a device ({place}), not the host's; {way}")
    return _core.Array.of_dlpack(value)


def _way_to_host(value: object, name: str) -> str:
    home = type(value).__module__.partition(".")[0]
    if home == "cupy":
        return f"cupy.asnumpy({name})"
    if home in ("jax", "jaxlib"):
        return f"jax.device_get({name})"
    return f"a copy of {name} as a NumPy array"


def _of_number(value: float | complex) -> _core.Array:
    from array import array

    is_complex = type(value) is complex
    kept = array("d", [value.real, value.imag] if is_complex else [value])
    name = "complex128" if is_complex else "float64"
    return _core.Array(kept.buffer_info()[0], name, [], [], kept)
