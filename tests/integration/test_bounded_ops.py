"""Ops that are passed over where what goes in is known to be finite are finite there."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

BOUNDED = {
    "silu": F.silu,
    "silu_": lambda x: F.silu(x.clone(), inplace=True),
    "mish": F.mish,
    "softmax": lambda x: x.softmax(-1),
    "softmax of columns": lambda x: x.reshape(8, -1).softmax(0),
    "sin": torch.sin,
    "cos": torch.cos,
    "atan2": lambda x: torch.atan2(x, x.flip(0)),
    "erfc": torch.special.erfc,
    "logsigmoid": F.logsigmoid,
}
TYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]


def extremes(dtype: torch.dtype) -> torch.Tensor:
    """Every order of magnitude that the type has, of both signs, its ends, and zeros."""
    info = torch.finfo(dtype)
    exponents = torch.linspace(math.log2(info.tiny), 0.999 * _top(dtype), 300)
    sizes = torch.exp2(exponents.double()).to(dtype)
    sizes = sizes[sizes.isfinite()]
    ends = torch.tensor([info.max, info.tiny, info.tiny / 2, 0.0], dtype=dtype)
    x = torch.cat([sizes, ends])
    x = torch.cat([x, -x])
    return x[: len(x) // 8 * 8]


def _top(dtype: torch.dtype) -> float:
    return {torch.float16: 16.0, torch.float64: 1024.0}.get(dtype, 128.0)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("name", BOUNDED)
def test_finite_of_everything_finite(name: str, dtype: torch.dtype) -> None:
    x = extremes(dtype)
    assert x.isfinite().all() and len(x) > 500
    for given in (x, x.repeat(40), torch.stack([x, x], 1)[:, 0]):
        assert BOUNDED[name](given).isfinite().all()
