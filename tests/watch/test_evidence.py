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


def test_the_link_behind_is_named(tmp_path: Path) -> None:
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
    assert any("`torch.softmax(logits, -1)` at line 4 underflows" in e for e in cause["evidence"])


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
    seen = watch(TWO_LAYERS, tmp_path, "--file", "other.py")
    assert seen.status == 0
    assert "no watched operation was called from other.py" in seen.err
    assert watch(TWO_LAYERS, tmp_path, "--file", "program.py").status == 3


def test_a_layer_that_is_not_there(tmp_path: Path) -> None:
    """The model is gone when the program ends."""
    body = TWO_LAYERS.replace("\n", "\n    ")
    program = f"def main():{body}\nmain()\n"
    seen = watch(program, tmp_path, "--layer", "net.frist")
    assert seen.status == 0 and seen.report["verdict"] == "unknown"
    [sentence] = [line for line in seen.err.splitlines() if line.startswith("nanscope: no module")]
    assert sentence.startswith("nanscope: no module goes by the name net.frist; there is net.first")


def test_a_guard_that_half_precision_rounds_to_zero(tmp_path: Path) -> None:
    program = "import torch\nx = torch.ones(4).half()\ny = x / (x + 1e-12)\nz = x / (x + 1e-3)\n"
    seen = watch(program, tmp_path)
    warnings = [f for f in seen.report["findings"] if f["level"] == "warning"]
    assert [w["cause"]["id"] for w in warnings] == ["eps_underflow"]
    assert warnings[0]["origin"]["site"]["code"] == "x + 1e-12"
    assert seen.status == 0


def warnings_of(seen) -> list[dict]:
    return [f["cause"] for f in seen.report["findings"] if f["level"] == "warning"]


def test_values_near_the_end_of_their_type(tmp_path: Path) -> None:
    program = """
import torch
w = torch.full((4,), 100.0, requires_grad=True)
h = w.half() * 256
torch.log(h).float().sum().backward()
"""
    [cause] = warnings_of(seen := watch(program, tmp_path))
    assert seen.status == 0 and cause["id"] == "little_headroom"
    assert cause["sentence"] == (
        "What goes into `torch.log(h)` reaches 25600 in float16, which ends at 65504: x 2.6 more "
        "and it overflows."
    )


def test_a_gradient_norm_that_grows_without_bound(tmp_path: Path) -> None:
    program = """
import torch
w = torch.tensor([1.0], requires_grad=True)
opt = torch.optim.SGD([w], lr=3.0)
for step in range(14):
    opt.zero_grad()
    w.square().sum().backward()
    opt.step()
"""
    [cause] = warnings_of(seen := watch(program, tmp_path))
    assert seen.status == 0 and cause["id"] == "growing_gradients"
    assert cause["sentence"].startswith("The gradient norm grew from 1250 to ")


# An Inf that nobody looked at takes one row with it; one that the program knows of is its own.
DIVIDED = """
import torch
scores = torch.tensor([[1.0, 2.0], [88.0, 88.5]], requires_grad=True)
e = torch.exp(scores)
total = e.sum(-1, keepdim=True)
{test}
p = e / total
(p * torch.tensor([[1.0, 2.0], [0.0, 0.0]])).sum().backward()
"""


def test_an_inf_that_is_divided_away_in_part(tmp_path: Path) -> None:
    seen = watch(DIVIDED.format(test=""), tmp_path)
    warnings = [f for f in seen.report["findings"] if f["level"] == "warning" and f["fate"]]
    assert seen.status == 0, seen.err
    assert [f["origin"]["site"]["code"] for f in warnings] == ["e.sum(-1, keepdim=True)"]
    assert warnings[0]["fate"].startswith("divided away in part")
    assert "aten::sum made inf; divided away in part" in seen.err
    seen = watch(DIVIDED.format(test="torch.isinf(total)"), tmp_path)
    assert not any(f["level"] == "warning" and f["fate"] for f in seen.report["findings"])


def test_a_note_tells_what_became_of_it(tmp_path: Path) -> None:
    program = "import torch\ny = torch.nan_to_num(torch.log(torch.zeros(2)))\nprint(y)\n"
    seen = watch(program, tmp_path, "-v")
    assert seen.status == 0
    assert "note: program.py:2:22: aten::log made -inf; cleaned\n" in seen.err
    assert [f["fate"] for f in seen.report["findings"]] == ["cleaned"]


def test_what_no_operation_read_is_described(tmp_path: Path) -> None:
    program = """
import torch, numpy as np
x = torch.from_numpy(np.array([1.0, np.nan]))
print(x.tolist())
"""
    seen = watch(program, tmp_path)
    assert seen.err.startswith("nanscope: error: program.py:4:7: nan came in from outside\n")
    assert "1 of 2 elements: 1 nan; the first at [1]" in seen.err
    assert seen.error["cause"]["certainty"] == "certain"
    assert seen.error["cause"]["sentence"] == (
        "What `x.tolist()` reads came in with 1 nan in 2 elements: no operation of this run "
        "computed it, it is in the data."
    )


def test_what_numpy_computes_inside_a_function_is_unwatched(tmp_path: Path) -> None:
    program = """
import numpy as np, torch
class Log(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.from_numpy(np.log(x.detach().numpy()))
    @staticmethod
    def backward(ctx, g):
        return g
w = torch.tensor([0.0, 1.0], requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
y = Log.apply(w)
(y * 2).sum().backward()
opt.step()
"""
    error = watch(program, tmp_path).error
    assert (error["origin"]["kind"], error["origin"]["phase"]) == ("unwatched", "forward")
    assert (error["cause"]["id"], error["cause"]["certainty"]) == ("unwatched_kernel", "likely")
    assert error["cause"]["sentence"].endswith("wrote the -inf in `y`.")
    assert any("autograd knows what computed it" in e for e in error["cause"]["evidence"])


def test_memory_whose_address_was_given_away_may_be_written(tmp_path: Path) -> None:
    program = """
import ctypes, numpy as np, torch
t = torch.empty(4)
source = np.array([1, np.nan, 2, 3], dtype=np.float32)
ctypes.memmove(t.data_ptr(), source.ctypes.data, 16)
print((t * 2).tolist())
"""
    assert watch(program, tmp_path).error["cause"]["id"] == "bad_input_data"


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
