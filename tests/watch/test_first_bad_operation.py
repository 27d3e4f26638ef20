"""The simplest faults of each phase: op, phase, expression and statistics."""

from __future__ import annotations

from pathlib import Path

import pytest

from watched import Watched, watch


def check(seen: Watched, op: str, phase: str, code: str, **origin: object) -> dict:
    finding = seen.error
    assert seen.status == 3
    assert finding["origin"]["op"] == op
    assert finding["origin"]["phase"] == phase
    assert finding["origin"]["site"]["code"] == code
    for name, value in origin.items():
        assert finding["origin"][name] == value, name
    return finding


def inputs(finding: dict) -> dict[str, dict]:
    return {given["name"]: given for given in finding["inputs"]}


def test_log_of_zero_in_a_loss(tmp_path: Path) -> None:
    seen = watch(
        """import torch
weights = torch.tensor([[0.0, 1.0], [2.0, 0.5]], requires_grad=True)
opt = torch.optim.SGD([weights], lr=0.1)
def loss_fn(p):
    return -torch.log(p).mean()
loss = loss_fn(weights)
loss.backward()
opt.step()
""",
        tmp_path,
    )
    finding = check(
        seen, "aten::log", "forward", "torch.log(p)", index=[0, 0], value="-inf", neg_inf=1, numel=4
    )
    assert finding["origin"]["site"]["function"] == "loss_fn"
    assert finding["harm"]["kind"] in ("gradient", "loss")
    p = inputs(finding)["p"]
    assert (p["zeros"], p["min"], p["max"], p["shape"]) == (1, 0.0, 2.0, [2, 2])
    assert p["at_index"] == [0.0]
    assert finding["cause"]["id"] == "log_of_zero"


def test_division_by_a_difference(tmp_path: Path) -> None:
    seen = watch(
        """import torch
x = torch.tensor([1.0, 2.0, 3.0])
y = x / (x - x)
print(y)
""",
        tmp_path,
    )
    finding = check(seen, "aten::div", "forward", "x / (x - x)", pos_inf=3, numel=3)
    given = inputs(finding)
    assert given["x"]["max"] == 3.0
    assert given["x - x"]["zeros"] == 3
    assert seen.out == "tensor([inf, inf, inf])\n"


def test_half_precision_overflow_in_a_linear_layer(tmp_path: Path) -> None:
    seen = watch(
        """import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(64, 2).half()
        nn.init.constant_(self.head.weight, 60.0)
    def forward(self, x):
        return self.head(x)
net = Net()
loss = net(torch.full((3, 64), 50.0, dtype=torch.float16)).float().mean()
loss.backward()
""",
        tmp_path,
    )
    finding = check(seen, "aten::addmm", "forward", "self.head(x)", pos_inf=6, module="net.head")
    assert finding["origin"]["library_site"]["file"].endswith("linear.py")
    assert {given["dtype"] for given in finding["inputs"]} == {"float16"}
    assert inputs(finding)["x"]["max"] == 50.0
    assert finding["cause"]["id"] == "half_overflow"


def test_gradient_of_a_square_root_at_zero(tmp_path: Path) -> None:
    seen = watch(
        """import torch
v = torch.tensor([4.0, 0.0, 9.0], requires_grad=True)
distance = torch.sqrt(v)
distance.sum().backward()
torch.optim.SGD([v], lr=0.1).step()
""",
        tmp_path,
    )
    finding = check(seen, "aten::div", "backward", "torch.sqrt(v)", node="SqrtBackward0", index=[1])
    assert finding["origin"]["pos_inf"] == 1
    assert any(given["zeros"] == 1 for given in finding["inputs"])
    assert finding["harm"] == finding["harm"] | {"kind": "gradient", "name": "v"}


def test_nan_in_the_data(tmp_path: Path) -> None:
    seen = watch(
        """import numpy, torch
from torch import nn
table = numpy.ones((6, 3), dtype=numpy.float32)
table[4, 1] = numpy.nan
data = torch.from_numpy(table)
model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in data.split(2):
    opt.zero_grad()
    model(batch).sum().backward()
    opt.step()
""",
        tmp_path,
    )
    finding = check(seen, "aten::addmm", "data", "model(batch)", kind="imported", nan=1, step=2)
    assert finding["origin"]["index"] == [0, 1]
    assert inputs(finding)["batch"]["nan"] == 1
    assert finding["cause"]["id"] == "bad_input_data"


@pytest.mark.parametrize("fused", [True, False])
def test_an_optimizer_that_makes_inf(tmp_path: Path, fused: bool) -> None:
    seen = watch(
        f"""import torch
p = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
opt = torch.optim.Adam([p], lr=1e30, eps=0.0, fused={fused})
for step in range(3):
    opt.zero_grad()
    (p * torch.tensor([0.0, 1e-30])).sum().backward()
    opt.step()
""",
        tmp_path,
    )
    finding = seen.error
    assert finding["origin"]["phase"] == "optimizer"
    assert finding["origin"]["op"] == ("aten::_fused_adam_" if fused else "aten::addcdiv_")
    assert finding["origin"]["site"]["code"] == "opt.step()"
    assert finding["harm"]["kind"] == "parameter"
    assert finding["harm"]["name"] == "p"


@pytest.mark.parametrize(
    "statement, name, value",
    [
        ("x.sqrt_()", "x", -4.0),
        ("x.log_()", "x", -4.0),
        ("x.pow_(0.5)", "x", -4.0),
        ("x.rsqrt_()", "x", -4.0),
        ("torch._foreach_sqrt_([x])", None, -4.0),
        ("x.mul_(0).reciprocal_()", None, 0.0),
        ("x.mul_(0).div_(torch.zeros(3))", None, 0.0),
        ("x.mul_(0).addcdiv_(torch.ones(3), torch.zeros(3))", None, 0.0),
    ],
)
def test_in_place_ops_keep_what_they_destroy(tmp_path, statement, name, value) -> None:
    seen = watch(
        f"import torch\nx = torch.tensor([1.0, -4.0, 9.0])\n{statement}\nprint(x)\n", tmp_path
    )
    finding = seen.error
    destroyed = finding["inputs"][0]
    if name:
        assert destroyed["name"] == name
    at = finding["origin"]["index"][0]
    assert destroyed["at_index"][0] == value, (at, destroyed)
    assert destroyed["nan"] == 0 and destroyed["pos_inf"] == 0


def test_an_exception_does_harm_where_it_was_raised(tmp_path: Path) -> None:
    seen = watch(
        """import torch
def loss_of(p):
    return torch.log(p).sum()
def check(loss):
    if not torch.isfinite(loss):
        raise ValueError(f"loss is {loss}")
check(loss_of(torch.zeros(2, requires_grad=True)))
""",
        tmp_path,
    )
    harm = check(seen, "aten::log", "forward", "torch.log(p)")["harm"]
    assert (harm["kind"], harm["site"]["line"]) == ("exception", 6)
    assert "ValueError: loss is -inf" in seen.err


def test_what_is_kept_has_no_place_of_harm(tmp_path: Path) -> None:
    harm = watch("import torch\ny = torch.zeros(3) / 0\n", tmp_path).error["harm"]
    assert (harm["kind"], harm["site"], harm["name"]) == ("kept", None, "y")


def test_a_write_by_a_copied_module_is_harm(tmp_path: Path) -> None:
    seen = watch(
        """import copy, torch
net = torch.nn.BatchNorm1d(3).to(torch.float64)
twin = copy.deepcopy(net).requires_grad_(False)
zero = torch.zeros(3, dtype=torch.float64)
twin.running_mean.copy_(zero / zero)
""",
        tmp_path,
    )
    harm = check(seen, "aten::div", "forward", "zero / zero")["harm"]
    assert (harm["kind"], harm["name"]) == ("buffer", "twin.running_mean")


def test_numpy_may_fill_what_empty_took(tmp_path: Path) -> None:
    seen = watch(
        """import torch
data = torch.empty(4)
data.numpy()[:] = [1, float("nan"), 2, 3]
w = torch.ones(4, requires_grad=True)
loss = (w * data).sum()
loss.backward()
""",
        tmp_path,
    )
    finding = check(seen, "aten::mul", "data", "w * data", kind="imported")
    assert list(inputs(finding)) == ["data"]


def test_the_state_of_an_optimizer_is_named_by_its_parameter(tmp_path: Path) -> None:
    seen = watch(
        """import torch
w = torch.ones(2, requires_grad=True)
opt = torch.optim.Adam([w], foreach=False)
(w.sum() * 1e25).backward()
opt.step()
""",
        tmp_path,
    )
    finding = check(seen, "aten::addcmul_", "optimizer", "opt.step()", step=0)
    assert finding["harm"]["name"] == "exp_avg_sq of w"
