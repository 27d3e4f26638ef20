"""Births for `nanscope doctor --self-test`: small trainings that go wrong, each in a marked line.

They stand here as text. The self-test writes it to a file of its own, so that for nanscope it is a
program of the user's, as any other. A mark says in which phase, and by which op (in backward: of
which node), the birth must be found.
"""

PROGRAMS = """\
import torch
from torch import nn


def train(loss, *parameters):
    loss.backward()
    torch.optim.SGD(parameters, lr=0.1).step()


def weights(*shape, dtype=None):
    return nn.Parameter(torch.ones(*shape, dtype=dtype))


def logarithm_of_zero():
    w = weights(3)
    p = torch.tensor([0.5, 0.0, 1.0])
    train((w * torch.log(p)).sum(), w)  # birth: forward aten::log


def division_by_zero():
    w = weights(3)
    count = torch.tensor([1.0, 2.0, 0.0])
    train((w / count).sum(), w)  # birth: forward aten::div


def zero_by_zero():
    w = weights(4)
    x = torch.zeros(4)
    share = x / x.sum()  # birth: forward aten::div
    train((w * share).sum(), w)


def root_of_a_negative_number():
    w = weights(2)
    variance = torch.tensor([4.0, -1e-6])
    train((w * variance.sqrt()).sum(), w)  # birth: forward aten::sqrt


def exponential_overflows():
    w = weights(2)
    train(torch.exp(w * 100).sum(), w)  # birth: forward aten::exp


def power_overflows():
    w = weights(2)
    x = torch.tensor([1e20, 1.0])
    train((w * x.pow(4)).sum(), w)  # birth: forward aten::pow


def half_precision_overflows():
    w = weights(4, dtype=torch.float16)
    x = torch.full((4,), 3e4, dtype=torch.float16)
    train((w * (x * 3)).sum(), w)  # birth: forward aten::mul


def cast_overflows():
    w = weights(2)
    x = torch.tensor([1e5, 1.0])
    train((w * x.to(torch.float16)).sum(), w)  # birth: forward aten::_to_copy


def product_of_matrices_overflows():
    w = weights(2, 2)
    x = torch.full((2, 2), 3e38)
    train((x @ w).sum(), w)  # birth: forward aten::mm


def fully_masked_row():
    w = weights(2, 3)
    mask = torch.tensor([[True, False, False], [True, True, True]])
    scores = w.masked_fill(mask, float("-inf"))
    train(scores.softmax(-1).sum(), w)  # birth: forward aten::_softmax


def deviation_of_one_element():
    w = weights(1)
    train((w * torch.ones(1).std()).sum(), w)  # birth: forward aten::std


def mean_of_nothing():
    w = weights(3)
    chosen = w[torch.zeros(3, dtype=torch.bool)]
    train(chosen.mean(), w)  # birth: forward aten::mean


def arc_cosine_beyond_one():
    w = weights(2)
    cosine = torch.tensor([0.5, 1.0000001])
    train((w * torch.acos(cosine)).sum(), w)  # birth: forward aten::acos


def inverse_of_a_singular_sum():
    w = weights(3)
    x = torch.tensor([1.0, 0.0, 2.0])
    train((w * torch.reciprocal(x)).sum(), w)  # birth: forward aten::reciprocal


def slope_of_a_root_at_zero():
    w = nn.Parameter(torch.zeros(2))
    train(w.sqrt().sum(), w)  # birth: backward SqrtBackward0


def slope_of_a_power_at_zero():
    w = nn.Parameter(torch.zeros(2))
    train(w.pow(0.5).sum(), w)  # birth: backward PowBackward0


def slope_of_an_arc_cosine_at_one():
    w = weights(2)
    train(torch.acos(w).sum(), w)  # birth: backward AcosBackward0


def slope_behind_a_mask():
    w = nn.Parameter(torch.tensor([4.0, 0.0]))
    safe = torch.where(w > 0, w.sqrt(), torch.zeros(2))  # birth: backward SqrtBackward0
    train(safe.sum(), w)


def adam_without_eps():
    w = weights(2)
    (w * torch.tensor([1.0, 0.0])).sum().backward()
    torch.optim.Adam([w], eps=0.0).step()  # birth: optimizer


def step_too_large():
    w = nn.Parameter(torch.tensor([3e38]))
    (-w).sum().backward()
    torch.optim.SGD([w], lr=3e38).step()  # birth: optimizer
"""
