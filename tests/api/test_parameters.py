"""The tables of weights, gradients and optimizer state."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
import torch
from torch import nn

import nanscope
from nanscope import CheckFailed

NAN, INF = float("nan"), float("inf")


def model() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 3), nn.LayerNorm(3), nn.Linear(3, 2))


def stepped(net: nn.Module, kind=torch.optim.Adam) -> torch.optim.Optimizer:
    optimizer = kind(net.parameters())
    net(torch.randn(5, 4)).square().sum().backward()
    optimizer.step()
    return optimizer


def test_weights_worst_first() -> None:
    net = model()
    with torch.no_grad():
        net[2].weight[0, 1] = NAN
        net[0].weight[0] = torch.tensor([INF, -INF, 200.0, 0.0])
    table = nanscope.check_weights(net)
    assert not table.ok and [row.name for row in table.bad] == ["0.weight", "2.weight"]
    worst = table.rows[0]
    assert (worst.nan, worst.inf, worst.extreme, worst.largest) == (0, 2, 1, 200.0)
    assert worst.remarks == ("Inf", "extreme")
    with pytest.raises(CheckFailed, match=r"weights: 2 of 6 tensors not finite; the worst is 0.we"):
        table.raise_if_bad()


def test_numbers_are_those_of_torch() -> None:
    net = model()
    net(torch.randn(5, 4)).square().sum().backward()
    table = nanscope.check_gradients(net)
    assert table.ok and table.raise_if_bad() is None
    for row in table.rows:
        grad = net.get_parameter(row.name).grad
        assert row.norm == pytest.approx(grad.norm().item())
        assert row.largest == grad.abs().max().item()
    total = torch.nn.utils.get_total_norm([p.grad for p in net.parameters()])
    assert table.total_norm == pytest.approx(total.item())


def test_magnitudes_are_remarks_of_matrices_alone() -> None:
    net = model()  # the LayerNorm: weight of ones, bias of zeros
    assert all(not row.remarks for row in nanscope.check_weights(net).rows)
    with torch.no_grad():
        net[0].weight.fill_(0)
        net[2].weight.fill_(5)
        net[0].bias.fill_(1e9)
    table = nanscope.check_weights(net)
    remarks = {row.name: row.remarks for row in table.rows if row.remarks}
    assert table.ok and remarks == {"0.weight": ("all zero",), "2.weight": ("constant",)}
    with torch.no_grad():
        net[0].weight.uniform_(1e-9, 1e-8)
        net[2].weight.uniform_(200, 300)
    remarks = {row.name: row.remarks for row in nanscope.check_weights(net).rows if row.remarks}
    assert remarks == {"0.weight": ("near zero",), "2.weight": ("extreme",)}


def test_gradients_that_are_missing_are_counted() -> None:
    net = model()
    net[0].bias.requires_grad_(False)
    net[0](torch.randn(2, 4)).sum().backward()
    table = nanscope.check_gradients(net)
    assert [row.name for row in table.rows] == ["0.weight"]
    assert table.missing == ("1.weight", "1.bias", "2.weight", "2.bias")
    assert "without a gradient: 4 (1.weight, 1.bias, 2.weight, 2.bias)" in str(table)


def test_sparse_gradient() -> None:
    net = nn.Embedding(5, 2, sparse=True)
    (net(torch.tensor([1, 1, 3])).sum() * INF).backward()
    assert nanscope.check_gradients(net).rows[0].inf == 6


@pytest.mark.parametrize("kind", [torch.optim.Adam, torch.optim.RMSprop, torch.optim.Adagrad])
def test_optimizer(kind) -> None:
    net = model()
    optimizer = stepped(net, kind)
    table = nanscope.check_optimizer(optimizer, net)
    assert table.ok and any(row.name.startswith("0.weight ") for row in table.rows)
    state = optimizer.state[net[2].weight]
    key = next(key for key, value in state.items() if value.dim() == 2)
    state[key][1, 2] = INF
    optimizer.param_groups[0]["lr"] = NAN
    bad = nanscope.check_optimizer(optimizer, net).bad
    assert {row.name for row in bad} == {f"2.weight {key}", "param_groups[0]['lr']"}
    assert any(row.name == f"group 0, 4 {key}" for row in nanscope.check_optimizer(optimizer).bad)


def test_optimizer_that_was_given_names() -> None:
    net = model()
    optimizer = torch.optim.Adam(net.named_parameters())
    net(torch.randn(5, 4)).sum().backward()
    optimizer.step()
    assert any(r.name == "0.weight exp_avg" for r in nanscope.check_optimizer(optimizer).rows)


def test_text() -> None:
    net = nn.Linear(2, 2, bias=False)
    with torch.no_grad():
        net.weight.copy_(torch.tensor([[3.0, NAN], [-400.0, 0.0]]))
    assert str(nanscope.check_weights(net)).splitlines() == [
        "weights: 1 of 1 tensor not finite; the worst is weight: 1 of 4 elements: 1 NaN",
        "        shape   NaN  Inf     norm  largest  smallest  >100  <1e-6  remarks",
        "weight  [2, 2]    1    0  400.011      400         3     1      1  NaN, extreme",
    ]


class Cells(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        if self.open[-1] in ("td", "th"):
            self.cells.append(text)


def test_html_of_a_notebook() -> None:
    net = nn.Sequential()
    net.add_module("<b>", nn.Linear(2, 2))
    page = nanscope.check_weights(net)._repr_html_()
    parsed = Cells(page)
    assert parsed.open == [] and "<b>.weight" in parsed.cells and "&lt;b&gt;.weight" in page
    assert parsed.cells[:3] == ["shape", "NaN", "Inf"]


def test_long_tables_are_cut() -> None:
    net = nn.ModuleList(nn.Linear(1, 1) for _ in range(50))
    text = str(nanscope.check_weights(net))
    assert len(text.splitlines()) == 43 and text.endswith("... and 60 more, none of them worse")


@pytest.mark.parametrize(
    ("use", "sentence"),
    [
        (lambda: nanscope.check_weights(nn.ReLU()), "ReLU has no parameters to check"),
        (lambda: nanscope.check_weights("model"), "takes a torch.nn.Module, not a str"),
        (lambda: nanscope.check_gradients(model()), r"call it after backward\(\)"),
        (lambda: nanscope.check_gradients(nn.Identity()), "Identity has no parameters"),
        (lambda: nanscope.check_optimizer(model()), "takes an optimizer, not a Sequential"),
        (
            lambda: nanscope.check_optimizer(stepped(model(), torch.optim.SGD)),
            "SGD has no state to check",
        ),
    ],
)
def test_bad_use_gets_one_sentence(use, sentence: str) -> None:
    with pytest.raises((ValueError, TypeError), match=sentence) as caught:
        use()
    assert "\n" not in str(caught.value)
