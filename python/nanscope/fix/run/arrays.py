"""In a child: expressions of NumPy, so that they are measured like those of torch."""

from __future__ import annotations

import sys
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def is_of_numpy(value: object) -> bool:
    """An array of floating-point numbers, or one such number."""
    numpy = sys.modules.get("numpy")
    kinds = (numpy.ndarray, numpy.generic) if numpy is not None else ()
    return isinstance(value, kinds) and value.dtype.kind == "f"


def as_tensor(value: object, like: object = None) -> object:
    """What NumPy has as a tensor; a number of Python as one that has the type of another array."""
    import torch

    if isinstance(value, int | float) and like is not None:
        value = sys.modules["numpy"].asarray(value, dtype=like)
    return torch.from_numpy(sys.modules["numpy"].array(value)) if is_of_numpy(value) else value


def of_tensors(function: Callable) -> Callable:
    """The same function, of tensors where it takes arrays, and with a tensor as its result."""

    def called(*values: object) -> object:
        with silent():
            return as_tensor(function(*map(_as_array, values)), like="float64")

    return called


def _as_array(value: object) -> object:
    import torch

    return value.detach().numpy() if isinstance(value, torch.Tensor) else value


@contextmanager
def silent() -> Iterator[None]:
    """What the original does to the values that broke it is told to nobody."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        yield
        return
    import warnings

    from nanscope.outside.arrivals import arrivals

    with arrivals.births.aside(), numpy.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
