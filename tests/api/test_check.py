"""`check` and `stats` of tensors, NumPy arrays, numbers and nests of them."""

from __future__ import annotations

import math
import subprocess
import sys
from collections import OrderedDict, namedtuple
from dataclasses import dataclass

import numpy as np
import pytest
import torch

import nanscope
from nanscope import CheckFailed, NonFiniteError, Unreadable
from nanscope.outside.arrays import array_of

NAN, INF = float("nan"), float("inf")
FLOATS = [torch.float64, torch.float32, torch.float16, torch.bfloat16]


def failure(value: object, name: str = "x", **options) -> CheckFailed:
    with pytest.raises(CheckFailed) as caught:
        nanscope.check(value, name, **options)
    return caught.value


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("requires_grad", [False, True])
def test_tensor_comes_back_or_is_described(dtype: torch.dtype, requires_grad: bool) -> None:
    x = torch.arange(12, dtype=dtype).reshape(3, 4).requires_grad_(requires_grad)
    assert nanscope.check(x) is x
    with torch.no_grad():
        x[1, 2], x[2, 0], x[2, 1] = NAN, INF, -INF
    error = failure(x, "h")
    assert isinstance(error, NonFiniteError) and isinstance(error, ValueError)
    name = str(dtype).removeprefix("torch.")
    assert str(error).splitlines() == [
        "h is not finite: 3 of 12 elements: 1 NaN, 1 +Inf, 1 -Inf",
        f"  dtype   {name}, shape [3, 4]",
        "  first   [1, 2] is nan, [2, 0] is inf, [2, 1] is -inf",
        "  finite  largest 11, least 0, mean 4.77778",
    ]
    assert error.stats.indices == ((1, 2), (2, 0), (2, 1)) and error.stats.dtype == name


@pytest.mark.parametrize(
    "view", [lambda x: x.t(), lambda x: x[:, ::2], lambda x: x.expand(2, 4, 6), lambda x: x[3]]
)
def test_any_strides(view) -> None:
    base = torch.zeros(4, 6)
    seen = view(base)
    assert nanscope.check(seen) is seen
    base[3, 4] = NAN
    bad = torch.isnan(view(base)).nonzero()
    assert [list(index) for index in failure(view(base)).stats.indices] == bad.tolist()


def test_what_lies_beside_a_view_is_not_looked_at() -> None:
    base = torch.full((4, 6), NAN)
    base[1:3, 2:5] = 1
    nanscope.check(base[1:3, 2:5])
    numpy = np.full((4, 6), np.nan)
    numpy[1:3, 2:5] = 1
    nanscope.check(numpy[1:3, 2:5])
    nanscope.check(numpy[2:0:-1, 4:1:-1])


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "complex64", "complex128"])
def test_numpy(dtype: str) -> None:
    x = np.ones((2, 3), dtype)
    assert nanscope.check(x) is x
    x[1, 1] = np.inf
    assert failure(x.T).stats.indices == ((1, 1),)
    x.setflags(write=False)
    assert failure(x).stats.pos_inf == 1
    swapped = x.astype(x.dtype.newbyteorder())
    assert failure(swapped).stats == failure(x).stats


def test_a_field_of_a_structured_array_is_read_where_it_lies() -> None:
    table = np.zeros(3, [("id", "i2"), ("value", "f8")])
    table["value"][2] = np.nan
    assert failure(table["value"]).stats.indices == ((2,),)
    with pytest.raises(Unreadable, match="check its fields"):
        nanscope.check(table)


@dataclass
class Output:
    logits: object
    loss: object = None


class ModelOutput(OrderedDict):
    """As transformers has it: a dict that is a dataclass too."""

    __dataclass_fields__ = {"logits": None, "hidden_states": None}
    logits = property(lambda self: self["logits"])
    hidden_states = property(lambda self: self.get("hidden_states"))


Pair = namedtuple("Pair", "first second")
BAD = torch.tensor([1.0, NAN])


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (Output([BAD]), "out.logits[0]"),
        (
            ModelOutput(logits=torch.ones(1), hidden_states=(torch.ones(1), BAD)),
            "out.hidden_states[1]",
        ),
        ({"a": 1, "text": "x", "b": (None, {3: BAD})}, "out['b'][1][3]"),
        (Pair(torch.ones(2), BAD), "out.second"),
        ([1.0, NAN], "out[1]"),
        (Output(torch.ones(2), NAN), "out.loss"),
        (torch.nn.utils.rnn.pack_sequence([BAD]), "out.data"),
    ],
)
def test_path_of_the_bad_leaf(value: object, path: str) -> None:
    assert failure(value, "out").path == path


def test_healthy_nest_comes_back() -> None:
    nest = {"a": [torch.ones(2), np.ones(2), 1.0, 2, "text", None], "b": Output(torch.ones(1))}
    nest["self"] = nest
    assert nanscope.check(nest) is nest


FOUR_BITS = torch.zeros(1, dtype=torch.float4_e2m1fn_x2)


@pytest.mark.parametrize(
    "value", [3, True, torch.arange(3), np.arange(3), np.array(["a"]), [], FOUR_BITS]
)
def test_what_cannot_be_nan_passes(value: object) -> None:
    assert nanscope.check(value) is value


def batched(x: torch.Tensor) -> torch.Tensor:
    nanscope.check(x, "x")
    return x


@pytest.mark.parametrize(
    ("use", "sentence"),
    [
        (lambda: nanscope.check("text", "s"), "s is a str, neither an array nor a container"),
        (lambda: nanscope.check(None, "out"), "out is None, neither"),
        (lambda: nanscope.check(torch.nn.ReLU(), "net"), r"check_weights\(net\)"),
        (lambda: nanscope.check(iter([1.0]), "loader"), "loader is an iterator"),
        (lambda: nanscope.check(torch.ones(1, device="meta"), "m"), "m is on the meta device"),
        (lambda: nanscope.check(np.ones(1, np.longdouble), "l"), r"check l.astype\('float64'\)"),
        (lambda: torch.func.vmap(batched)(torch.ones(2, 2)), "x cannot be looked into"),
    ],
)
def test_bad_use_gets_one_sentence(use, sentence: str) -> None:
    with pytest.raises(Unreadable, match=sentence) as caught:
        use()
    assert "\n" not in str(caught.value)


FLOAT8 = ["float8_e5m2", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"]


@pytest.mark.parametrize("kind", FLOAT8)
def test_every_float8_is_read_as_torch_reads_it(kind: str) -> None:
    bits = torch.arange(256, dtype=torch.uint8)
    tensor = bits.view(getattr(torch, kind))
    array = array_of(tensor, "x")
    for bit, expected in enumerate(tensor.float().tolist()):
        got = array.value_at([bit])
        assert got == expected or (math.isnan(got) and math.isnan(expected)), bit
        finite = math.isfinite(expected)
        assert array_of(tensor[bit], "x").all_finite() == finite, bit
        assert array_of(tensor[bit : bit + 1].expand(70), "x").all_finite() == finite, bit
    wide = tensor.float()
    finite = wide[wide.isfinite()]
    seen = array.statistics()
    assert (seen.nan, seen.pos_inf, seen.neg_inf) == (
        int(wide.isnan().sum()),
        int((wide == math.inf).sum()),
        int((wide == -math.inf).sum()),
    )
    assert (seen.min, seen.max) == (finite.min().item(), finite.max().item())
    assert seen.zeros == int((wide == 0).sum())
    assert seen.negatives == int((wide < 0).sum())
    assert seen.max == torch.finfo(tensor.dtype).max


@pytest.mark.parametrize("kind", FLOAT8)
def test_nan_in_float8(kind: str) -> None:
    tensor = torch.ones(4, 6).to(getattr(torch, kind))
    assert nanscope.check(tensor) is tensor
    assert nanscope.check(tensor[:0]).numel() == 0
    tensor[2, 1] = NAN
    found = failure(tensor, "q")
    assert found.stats.nan == 1
    assert "q" in str(found)
    assert nanscope.check(tensor[:, ::2]) is not None
    assert failure(tensor.t()[1]).stats.nan == 1
    assert nanscope.check(tensor.view(torch.uint8)) is not None


def test_sparse_and_quantized() -> None:
    sparse = torch.tensor([[0.0, 2.0], [NAN, 0.0]]).to_sparse()
    assert failure(sparse).stats.nan == 1
    assert failure(sparse.to_sparse_csr()).stats.nan == 1
    quantized = torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8)
    with pytest.raises(Unreadable, match="dequantize"):
        nanscope.check(quantized)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([[0.5, 0.5], [1.25, -0.25]], ["1 element is below 0, the least -0.25"]),
        ([[1.0, 0.0]], ["1 element is exactly 0, whose log is -inf"]),
        ([[0.5, 0.5], [0.2, 0.2]], ["1 of 2 rows does not sum to 1: row [1] sums to 0.4"]),
        ([[-1.0, 0.0]], ["below 0", "exactly 0", "row [0] sums to -1"]),
        ([[NAN, 1.0]], ["x is not finite: 1 of 2 elements: 1 NaN"]),
    ],
)
def test_probabilities(rows: list, words: list[str]) -> None:
    text = str(failure(torch.tensor(rows), probabilities=True))
    assert all(word in text for word in words), text


def test_healthy_probabilities_and_those_with_zeros() -> None:
    for dtype in FLOATS:
        p = torch.softmax(torch.randn(8, 1000), -1).to(dtype)
        assert nanscope.check(p, probabilities="allow_zeros") is p
    nanscope.check(torch.tensor([0.25] * 4), probabilities=True)
    nanscope.check(
        {"p": torch.tensor([1.0, 0.0]), "n": torch.arange(3)}, probabilities="allow_zeros"
    )


def test_stats() -> None:
    s = nanscope.stats(torch.tensor([[0.0, -2.0], [NAN, 1e-40]]), "p")
    assert (s.name, s.dtype, s.shape, s.numel) == ("p", "float32", (2, 2), 4)
    assert (s.zeros, s.negatives, s.subnormals, s.nan, s.pos_inf, s.neg_inf) == (1, 1, 1, 1, 0, 0)
    assert (s.min, s.max) == (-2.0, pytest.approx(1e-40)) and not s.ok
    assert s.indices == ((1, 0),) and np.isnan(s.at_index[0])
    assert "NaN" in str(s) and "at [1, 0]" in str(s)
    assert nanscope.stats(np.arange(4)).max == 3
    by_path = nanscope.stats({"a": torch.ones(2), "b": [np.zeros(3)]}, "batch")
    assert {path: s.numel for path, s in by_path.items()} == {"batch['a']": 2, "batch['b'][0]": 3}


def test_checking_changes_nothing() -> None:
    x = torch.randn(5, requires_grad=True)
    y = (x * 2).relu()
    version, node = y._version, y.grad_fn
    nanscope.check(y)
    nanscope.stats(y)
    assert y._version == version and y.grad_fn is node


def test_importing_nanscope_loads_nothing_heavy() -> None:
    heavy = "{'torch', 'numpy', 'dataclasses', 'ast', 'nanscope._core'} & set(sys.modules)"
    code = f"import sys, nanscope; print(sorted({heavy}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    code = "import sys, nanscope; nanscope.check([1.0]); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
