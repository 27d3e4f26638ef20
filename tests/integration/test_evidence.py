"""What is taken at the hit beside the op itself, and what is warned of before anything happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from watched import watch

TWO_LAYERS = """
import torch
from torch import nn

class First(nn.Module):
    def forward(self, x):
        return torch.log(x)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = First(), nn.Linear(3, 1)

    def forward(self, x):
        return self.second(self.first(x))

net = Net()
net(torch.zeros(2, 3)).sum().backward()
torch.optim.SGD(net.parameters(), 0.1).step()
"""


def test_the_failing_elements_are_computed_again(tmp_path: Path) -> None:
    program = "import torch\nx = torch.tensor([60000.0, 1.0]).half()\ny = x + x\nprint(y)\n"
    error = watch(program, tmp_path).error
    assert error["recomputed"] == [
        {"dtype": "float32", "values": [120000.0]},
        {"dtype": "float64", "values": [120000.0]},
    ]
    assert error["cause"]["id"] == "half_overflow"


def test_the_link_behind_is_told(tmp_path: Path) -> None:
    program = """
import torch
logits = torch.tensor([[0.0, 200.0]], requires_grad=True)
p = torch.softmax(logits, -1)
loss = -torch.log(p).sum()
loss.backward()
torch.optim.SGD([logits], 0.1).step()
"""
    cause = watch(program, tmp_path).error["cause"]
    assert cause["id"] == "log_of_zero"
    assert any("`p` is 0 because softmax at line 4 underflowed" in e for e in cause["evidence"])


@pytest.mark.parametrize(
    "option, value, status", [("--layer", "net.first", 3), ("--layer", "net.second", 0)]
)
def test_one_layer(option: str, value: str, status: int, tmp_path: Path) -> None:
    seen = watch(TWO_LAYERS, tmp_path, option, value)
    assert seen.status == status
    left_out = [gap["what"] for gap in seen.report["coverage"]["not_watched"]]
    assert left_out == ([] if status else ["errors outside net.second"])
    assert seen.report["verdict"] == ("error" if status else "unknown")


def test_one_file(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("")
    assert watch(TWO_LAYERS, tmp_path, "--file", "other.py").status == 0
    assert watch(TWO_LAYERS, tmp_path, "--file", "program.py").status == 3


def test_a_guard_that_half_precision_rounds_to_zero(tmp_path: Path) -> None:
    program = "import torch\nx = torch.ones(4).half()\ny = x / (x + 1e-12)\nz = x / (x + 1e-3)\n"
    seen = watch(program, tmp_path)
    warnings = [f for f in seen.report["findings"] if f["level"] == "warning"]
    assert [w["cause"]["id"] for w in warnings] == ["eps_underflow"]
    assert warnings[0]["origin"]["site"]["code"] == "x + 1e-12"
    assert seen.status == 0


def test_a_weight_that_training_never_changes(tmp_path: Path) -> None:
    program = """
import torch
from torch import nn
encoder, head = nn.Linear(4, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], 0.1)
for _ in range(12):
    loss = head(encoder(torch.randn(8, 4)).detach()).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    seen = watch(program, tmp_path)
    warnings = [f["cause"] for f in seen.report["findings"] if f["level"] == "warning"]
    assert [w["id"] for w in warnings] == ["untrained_weights"]
    assert "`encoder.weight`" in warnings[0]["sentence"]
