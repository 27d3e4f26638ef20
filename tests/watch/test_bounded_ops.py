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


SPOILS = [float("nan"), float("inf"), float("-inf")]


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("size", [1, 2, 3, 8, 15, 16, 17, 33, 128, 1000, 5000])
def test_a_row_of_a_softmax_is_bad_as_a_whole(size: int, dtype: torch.dtype) -> None:
    """One element of each row is looked at (`rows_alike` of a hook)."""
    torch.manual_seed(size)
    bad = 0
    for dim in (0, 1, 2, -1):
        shape = [3, 4, 5]
        shape[dim] = size
        for spoil in SPOILS:
            x = (30 * torch.randn(shape)).to(dtype)
            rows = x.movedim(dim, -1)
            rows[0, 0] = float("-inf")
            rows[1, 1, torch.randint(size, ())] = spoil
            rows[2, 2] = float("-inf")
            rows[2, 2, -1] = spoil
            for given in (x, x.transpose(0, 1).contiguous().transpose(0, 1)):
                finite = given.softmax(dim).isfinite().movedim(dim, -1)
                assert torch.equal(finite.any(-1), finite.all(-1))
                bad += int((~finite.all(-1)).sum())
    assert bad >= 24
