"""The module-hook detector: the producer, and apart from it those around it and after it."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch
from torch import nn

import nanscope
from nanscope import CheckFailed

NAN, INF = float("nan"), float("inf")


class Log(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.log(x)


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.log = Log()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.log(self.first(x).relu())


def model() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 3), Block(), nn.Linear(3, 2))


def count_hooks(net: nn.Module) -> int:
    return sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in net.modules())


def test_the_producer_is_raised_and_the_hooks_are_gone() -> None:
    net = model()
    with pytest.raises(CheckFailed) as caught, nanscope.forward_hooks(net) as hooks:
        net(torch.randn(4, 3))
    assert caught.value.path == hooks.producer.module == "1.log" and hooks.producer.kind == "Log"
    assert "1.log (Log), call 1, made the first value that is not finite" in str(caught.value)
    assert hooks.producer.inputs[0].name == "input[0]" and hooks.producer.inputs[0].ok
    assert count_hooks(net) == 0
    with pytest.raises(CheckFailed), nanscope.forward_hooks(net):
        net(torch.randn(4, 3))
    assert count_hooks(net) == 0


def test_report_tells_around_from_downstream() -> None:
    net = model()
    with nanscope.forward_hooks(net, "report") as hooks:
        net(torch.randn(4, 3))
        net(torch.randn(4, 3))
    assert (hooks.producer.module, hooks.producer.call) == ("1.log", 1)
    roles = [(finding.module, finding.role) for finding in hooks.others[:3]]
    assert roles == [("1", "around"), ("2", "downstream"), ("", "around")]
    assert hooks.others[1].inputs[0].neg_inf > 0
    assert "has the producer inside" in str(hooks) and count_hooks(net) == 0


@dataclass
class Out:
    logits: torch.Tensor
    aux: dict


class Shapes(nn.Module):
    """Kwargs in, a dataclass with a dict and a tuple out."""

    def forward(self, x, *, scale=None, extra=None):
        return Out(x, {"states": (x, x / scale)})


def test_kwargs_and_nested_outputs() -> None:
    net = Shapes()
    with nanscope.forward_hooks(net, "report") as hooks:
        net(torch.ones(2), scale=torch.zeros(2), extra={"ids": [torch.arange(2)], "name": "x"})
    assert [s.name for s in hooks.producer.outputs] == ["output.aux['states'][1]"]
    assert [s.name for s in hooks.producer.inputs] == ["input[0]", "scale", "extra['ids'][0]"]


class InPlace(nn.Module):
    def forward(self, x):
        return x.mul_(INF)


def test_inputs_are_judged_as_they_were_before_forward() -> None:
    with nanscope.forward_hooks(InPlace(), "report") as hooks:
        hooks.model(torch.ones(2))
    assert hooks.producer is not None and hooks.producer.role == "producer"


class Masked(nn.Module):
    def forward(self, scores, mask):
        return torch.softmax(scores + mask, -1)


def test_a_mask_is_not_a_finding_until_it_makes_nan() -> None:
    net = Masked()
    mask = torch.tensor([[0.0, -INF], [0.0, 0.0]])
    with nanscope.forward_hooks(net) as hooks:
        net(torch.randn(2, 2), mask)
        assert hooks.ok and "every output was finite, in 1 calls" in str(hooks)
        with pytest.raises(CheckFailed, match="mask|input"):
            net(torch.randn(2, 2), torch.full((2, 2), -INF))


def test_bad_weights_are_named() -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    with torch.no_grad():
        net[1].weight[0, 0] = NAN
    found = []
    with nanscope.forward_hooks(net, found.append):
        net(torch.ones(1, 2))
    assert [f.module for f in found] == ["1"] and found[0].weights[0].name == "weight"
    assert "its parameter weight: float32 [2, 2], 1 of 4 elements: 1 NaN" in str(found[0])


class Raises(nn.Module):
    def forward(self, x):
        raise RuntimeError("another reason")


def test_an_exception_of_the_models_own_passes() -> None:
    net = nn.Sequential(nn.Linear(3, 3), Raises())
    with nanscope.forward_hooks(net) as hooks:
        for _ in range(2):
            with pytest.raises(RuntimeError, match="another reason"):
                net(torch.ones(1, 3))
    assert hooks.ok and count_hooks(net) == 0


def test_imported_nan_has_no_producer() -> None:
    net = nn.Linear(2, 2)
    with pytest.raises(CheckFailed, match="was given values that were not finite"):
        with nanscope.forward_hooks(net) as hooks:
            net(torch.tensor([[NAN, 1.0]]))
    assert hooks.producer is None and not hooks.ok


def test_hooks_change_nothing() -> None:
    net, x = model()[0], torch.randn(4, 3)
    plain = net(x)
    with nanscope.forward_hooks(net):
        seen = net(x)
    assert torch.equal(plain, seen) and seen.grad_fn is not None


@pytest.mark.parametrize(
    ("use", "sentence"),
    [
        (lambda: nanscope.forward_hooks("net"), "takes a torch.nn.Module, not a str"),
        (lambda: nanscope.forward_hooks(nn.ReLU(), "print"), 'on_find is "raise", "report" or'),
    ],
)
def test_bad_use_gets_one_sentence(use, sentence: str) -> None:
    with pytest.raises((TypeError, ValueError), match=sentence):
        use()
