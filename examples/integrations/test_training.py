"""Tests of a loss, for `pytest --nanscope examples/integrations/test_training.py`."""

import pytest
import torch


def likelihood(p: torch.Tensor) -> torch.Tensor:
    return torch.log(p).mean()


def train(p: torch.Tensor) -> torch.Tensor:
    weight = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    (-likelihood(weight * p)).backward()
    optimizer.step()
    return weight


@pytest.mark.finite
def test_training_is_finite():
    train(torch.tensor([0.1, 0.2, 0.7]))


@pytest.mark.expect_nonfinite("log_of_zero")
def test_a_probability_of_zero_is_not():
    train(torch.tensor([0.0, 0.3, 0.7]))
