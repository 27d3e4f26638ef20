"""Values that change hands without an op, exceptions for other reasons, and ops that raise."""

from __future__ import annotations

from pathlib import Path

from watched import watch


def test_a_parameter_assigned_through_data(tmp_path: Path) -> None:
    seen = watch(
        """import torch
w = torch.tensor([1.0, 0.5], requires_grad=True)
for i in range(6):
    loss = torch.sqrt(w * w).sum()
    loss.backward()
    w.data = w.data - 0.5 * w.grad
    w.grad.zero_()
""",
        tmp_path,
    )
    origin = seen.error["origin"]
    assert (origin["node"], origin["site"]["line"]) == ("SqrtBackward0", 4)
    assert (seen.error["harm"]["kind"], seen.error["harm"]["name"]) == ("parameter", "w")


def test_a_buffer_assigned_anew(tmp_path: Path) -> None:
    seen = watch(
        """import torch
class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("var", torch.ones(4))
    def forward(self, x):
        self.var = 0.9 * self.var + 0.1 * x.var(0)
        return x / self.var.sqrt()
scale = Scale()
for rows in (8, 1):
    scale(torch.randn(rows, 4))
""",
        tmp_path,
    )
    assert seen.error["origin"]["op"] == "aten::var"
    assert seen.error["harm"]["kind"] == "buffer"


def test_a_leaf_that_is_new_in_every_call(tmp_path: Path) -> None:
    seen = watch(
        """import torch
def saliency(x):
    x = x.clone().requires_grad_()
    torch.sqrt(x).sum().backward()
    return x.grad
out = [saliency(torch.tensor(x)) for x in ([1.0], [2.0], [0.0])]
""",
        tmp_path,
    )
    assert seen.error["origin"]["node"] == "SqrtBackward0"


def test_a_metric_beside_an_unrelated_exception_is_a_note(tmp_path: Path) -> None:
    for end in ("try: metric + torch.ones(4)\nexcept RuntimeError: pass", "{}['lr']"):
        seen = watch(
            f"""import torch
w = torch.ones(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
(w * 2).sum().backward()
opt.step()
metric = torch.zeros(3) / torch.zeros(3)
hasattr(metric, "tolist")
{end}
""",
            tmp_path,
        )
        assert seen.first("error") is None, seen.err


def test_numpy_memory_where_a_tensor_of_ours_was(tmp_path: Path) -> None:
    seen = watch(
        """import numpy, torch
for i in range(20):
    x = torch.randn(10); del x
def load():
    return torch.from_numpy(numpy.full(10, numpy.nan, dtype=numpy.float32))
print(load().clamp(min=0).max().item())
""",
        tmp_path,
    )
    assert (seen.error["origin"]["kind"], seen.error["origin"]["op"]) == ("imported", "aten::clamp")


def test_an_op_of_the_program_that_raises(tmp_path: Path) -> None:
    seen = watch(
        """import torch
@torch.library.custom_op("my::g", mutates_args=())
def g(x: torch.Tensor, k: int) -> torch.Tensor:
    raise ValueError("no")
torch.ones(1, requires_grad=True).sum().backward()  # new ops are known from here on
for i in range(500):
    try:
        g(torch.zeros(3) / torch.zeros(3), 1)
    except ValueError:
        pass
print("end")
""",
        tmp_path,
    )
    assert (seen.status, seen.out) == (0, "end\n")


def test_numbers_and_types_at_the_edge(tmp_path: Path) -> None:
    seen = watch(
        """import torch
torch.full((3,), 2**63, dtype=torch.uint64)
torch.ops.aten._to_copy.out(torch.ones(2), out=torch.empty(2))
torch.__future__.set_swap_module_params_on_conversion(True)
net = torch.nn.Linear(3, 3)
torch.optim.SGD(net.parameters(), lr=0.1).zero_grad()
net.double()
size = torch.complex(torch.tensor(3e38), torch.tensor(3e38)).abs()
print(size)
""",
        tmp_path,
    )
    assert seen.error["origin"]["op"] == "aten::abs"
    assert seen.report["coverage"]["not_watched"] == []
