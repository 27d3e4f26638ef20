"""Results that are proved finite and not scanned (Note [Rule M]): no birth hides behind a proof.

All tensors are above the size below which everything is scanned.
"""

from __future__ import annotations

import ctypes

import pytest
import torch
import torch.nn.functional as F

import nanscope

SIDE = 64
OUTSIDE = torch.zeros(SIDE, SIDE)
ADDRESS = OUTSIDE.data_ptr()  # before any watch: no hook tells of it


def numbers() -> dict[str, torch.Tensor]:
    """Made while the watch is on: with a ceiling."""
    torch.manual_seed(0)
    x, w = torch.randn(SIDE, SIDE), torch.randn(SIDE, SIDE)
    return {"x": x, "w": w, "big": x * 0 + 3e38, "far": x * 0 + 1e30, "torch": torch, "F": F}


# what overflows (or becomes NaN), and the op
OVERFLOWS = {
    "big + big": "add",
    "big - -big": "sub",
    "far * far": "mul",
    "big / 0.5": "div",
    "far.pow(2)": "pow",
    "far @ far": "mm",
    "torch.addmm(big, w, far, beta=2.0)": "addmm",
    "torch.bmm(far.view(1, 64, 64), far.view(1, 64, 64))": "bmm",
    "torch.addcmul(x, far, far)": "addcmul",
    "torch.lerp(-big, big, 0.5)": "lerp",
    "F.conv2d(far.view(1, 1, 64, 64), far[:3, :3].reshape(1, 1, 3, 3))": "convolution",
    "F.layer_norm(big * x.sign(), (64,), w[0] * 1e10)": "native_layer_norm",
    "(x * 40).exp()": "exp",
    "x.sqrt()": "sqrt",
    "x.abs().sub_(1).sqrt_()": "sqrt_",
    "big.cumsum(0)": "cumsum",
    "x.clone().index_add_(0, torch.zeros(64, dtype=torch.long), big)": "index_add_",
    "big.to(torch.float16)": "_to_copy",
    "big.to(torch.bfloat16).mul(2)": "mul",
    "F.leaky_relu(-far, 1e20)": "leaky_relu",
    "x.double().mul(1e308).mul(100)": "mul",
    "x.half().mul(60000)": "mul",
    "x.clamp(float('nan'), 5.0)": "clamp",
    "torch.clamp(x, min=float('-inf'), max=float('nan'))": "clamp",
    "x.abs_().mul_(0.9).addcmul_(far, far, value=0.1)": "addcmul_",
}


def first_op(act) -> str | None:
    """The op of the first error in a block that ends by showing what `act` returns."""
    with nanscope.watch(on_find="report") as w:
        print(act().sum().item())
    return None if w.finding is None else w.finding.origin.op.removeprefix("aten::")


@pytest.mark.parametrize("expression", OVERFLOWS)
def test_an_overflow_is_found_where_it_happens(expression: str) -> None:
    code = compile(expression, "expression", "eval")
    assert first_op(lambda: eval(code, numbers())) == OVERFLOWS[expression]


def squared_sum(x: torch.Tensor) -> torch.Tensor:
    return (x * x) @ x


def through_integers() -> torch.Tensor:
    x = squared_sum(torch.randn(SIDE, SIDE))
    x.view(torch.int32).fill_(0x7F7FFFFF)  # the largest float32
    return x + x


def through_numpy() -> torch.Tensor:
    x = squared_sum(torch.randn(SIDE, SIDE))
    x.numpy()[:] = 3e38
    return x + x


def through_a_row() -> torch.Tensor:
    x = squared_sum(torch.randn(SIDE, SIDE))
    x[3].copy_(torch.full((SIDE,), 3e38))
    return x + x


def through_a_mask() -> torch.Tensor:
    x = squared_sum(torch.randn(SIDE, SIDE))
    x.masked_fill_(x > 0, 3e38)
    return x + x


def through_another_type() -> torch.Tensor:
    x = squared_sum(torch.randn(SIDE, SIDE))
    x.view(torch.float64).fill_(3e38)  # as float32: up to 2^53
    return x.pow(8)


def by_many_updates() -> torch.Tensor:
    x = torch.ones(SIDE, SIDE)
    for _ in range(200):
        x.add_(x)
    return x


def through_statistics() -> torch.Tensor:
    mean, variance = torch.zeros(8192), torch.ones(8192)
    x = torch.randn(4, 8192) * 1e10 + 2e37
    F.batch_norm(x, mean, variance, training=True, momentum=1.0)
    return mean * mean


def through_an_unwatched_hand() -> torch.Tensor:
    OUTSIDE.zero_()
    ctypes.memset(ADDRESS, 0x7F, OUTSIDE.nbytes)  # 3.4e38
    return OUTSIDE + OUTSIDE


HIDDEN = {
    through_an_unwatched_hand: "add",
    through_integers: "add",
    through_numpy: "add",
    through_a_row: "add",
    through_a_mask: "add",
    through_another_type: "pow",
    by_many_updates: "add_",
    through_statistics: "mul",
}


@pytest.mark.parametrize("act", HIDDEN, ids=lambda act: act.__name__)
def test_a_ceiling_is_not_believed_when_something_else_wrote(act) -> None:
    assert first_op(act) == HIDDEN[act]


def test_a_leaf_may_be_the_root_of_a_backward() -> None:
    with nanscope.watch() as w:
        x = torch.ones(3, requires_grad=True)
        (gradient,) = torch.autograd.grad(x, x, torch.ones(3))
    assert gradient.tolist() == [1, 1, 1] and w.finding is None


def fully_masked(dim: int) -> torch.Tensor:
    x = torch.randn(8, SIDE, SIDE)
    mask = torch.ones(8, SIDE, SIDE, dtype=torch.bool).triu(1)
    mask.movedim(dim, -1)[5, 7] = True
    return x.masked_fill(mask, float("-inf")).softmax(dim)


@pytest.mark.parametrize("dim", [0, 1, 2, -1])
def test_one_fully_masked_row_is_found(dim: int) -> None:
    assert first_op(lambda: fully_masked(dim)) == "_softmax"


def masked() -> torch.Tensor:
    x = torch.randn(SIDE, SIDE)
    return x.masked_fill(torch.ones(SIDE, SIDE, dtype=torch.bool).triu(1), float("-inf"))


def with_nan_by_data(x: torch.Tensor) -> None:
    x.data[3, 1] = float("nan")  # of another version


def with_nan_by_an_unwatched_hand(x: torch.Tensor) -> None:
    ctypes.memset(x.data_ptr() + 4 * (3 * SIDE + 1), 0xFF, 4)


def with_nan_in_a_view(x: torch.Tensor) -> None:
    x[3].narrow(0, 1, 1).fill_(float("nan"))


# A mask is remembered until it is read; what was written to it meanwhile is not overlooked.
@pytest.mark.parametrize(
    "spoil", [with_nan_by_data, with_nan_by_an_unwatched_hand, with_nan_in_a_view]
)
def test_a_mask_that_was_written_since_is_read_again(spoil) -> None:
    def act() -> torch.Tensor:
        x = masked()
        spoil(x)
        return x.softmax(-1)

    assert first_op(act) is not None


@pytest.mark.parametrize("constant", ["float('inf')", "-float('inf')", "torch.tensor(-torch.inf)"])
def test_a_mask_that_is_read_by_a_softmax_is_no_harm(constant: str) -> None:
    value = eval(constant)

    def act() -> torch.Tensor:
        x = torch.randn(SIDE, SIDE)
        mask = torch.ones(SIDE, SIDE, dtype=torch.bool).triu(1)
        return x.masked_fill(mask, value).neg().abs().reciprocal()  # 0 where it was masked

    assert first_op(act) is None


def test_nan_that_is_filled_in_is_nan_and_not_inf() -> None:
    with nanscope.watch(on_find="report") as w:
        x = torch.randn(SIDE, SIDE)
        print(x.masked_fill(x > 0, float("nan")).mean().item())
    assert w.finding is not None and "nan" in str(w.finding).lower()


def through_numpy_that_stays() -> torch.Tensor:
    x = torch.zeros(SIDE, SIDE)
    array = x.numpy()
    x.zero_()  # a watched op writes it, and NumPy still may
    array[3, 1] = 3e38
    return x + x


def through_a_new_tensor_in_its_place() -> torch.Tensor:
    for _ in range(50):
        torch.zeros(SIDE, SIDE).numpy()
    x = torch.full((SIDE, SIDE), 3e38)
    return x + x


@pytest.mark.parametrize("act", [through_numpy_that_stays, through_a_new_tensor_in_its_place])
def test_what_numpy_holds_is_never_known(act) -> None:
    assert first_op(act) == "add"


def nan_by_numpy(then) -> torch.Tensor:
    x = torch.zeros(100, 100)
    array = x.numpy()
    x.zero_()
    array[7, 3] = float("nan")
    return then(x)


@pytest.mark.parametrize("then", [torch.sqrt, lambda x: torch.cat([x, x]), lambda x: x + 1])
def test_nan_by_numpy_is_no_birth(then) -> None:
    with nanscope.watch(on_find="report") as w:
        print(nan_by_numpy(then).sum().item())
    assert w.finding is not None and w.finding.cause.id == "bad_input_data"
