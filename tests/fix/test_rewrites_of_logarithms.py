"""Logarithms and binary cross-entropies as people write them: text in, text out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from proposing import HEAD, SIZES, body, case_of, first, patched, proposals, tensor

from nanscope.findings import TriedExperiment
from nanscope.fix.patch import propose
from nanscope.fix.patch.case import Case


# -------------------------------------------------------------------------- logarithms
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = «torch.log(p)»", "y = torch.log(p.clamp(min=1e-8))"),
        ("y = «torch.log(1 - p)».sum()", "y = torch.log((1 - p).clamp(min=1e-8)).sum()"),
        ("«x.log_()»", "x.clamp_(min=1e-8).log_()"),
        ("y = x.relu().«log()».mean()", "y = x.relu().clamp(min=1e-8).log().mean()"),
        ("y = «torch.log(torch.softmax(x, -1))»", "y = torch.log_softmax(x, dim=-1)"),
        ("y = «F.softmax(x, dim=1).log()»", "y = torch.log_softmax(x, dim=1)"),
        ("p = x.softmax(1)\ny = «p.log()»", "p = x.softmax(1)\ny = torch.log_softmax(x, dim=1)"),
        ("y = «torch.log(torch.sigmoid(x))»", "y = F.logsigmoid(x)"),
        ("y = «torch.log(1 - torch.sigmoid(x))»", "y = F.logsigmoid(-x)"),
        ("y = «torch.log(x.exp().sum(1))»", "y = torch.logsumexp(x, dim=1)"),
        (
            "y = (x\n     .abs()  # size\n     .«log()»)",
            "y = (x\n     .abs().clamp(min=1e-8)  # size\n     .log())",
        ),
    ],
)
def test_a_logarithm(tmp_path, before, after):
    assert body(tmp_path, before, "log_of_zero") == after


def test_an_import_is_added_where_it_is_missing(tmp_path):
    before = '"""Doc."""\nfrom torch import log, sigmoid\n\ny = «log(sigmoid(x))»\n'
    assert first(tmp_path, before, "log_of_zero") == (
        '"""Doc."""\nfrom torch import log, sigmoid\nimport torch.nn.functional as F\n\n'
        "y = F.logsigmoid(x)\n"
    )


def test_an_import_goes_below_the_first_comments(tmp_path):
    before = "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\ny = «log(sigmoid(x))»\n"
    assert first(tmp_path, before, "log_of_zero") == (
        "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\nimport torch.nn.functional as F\n"
        "y = F.logsigmoid(x)\n"
    )


@pytest.mark.parametrize(
    ("head", "after"),
    [
        ("import torch as th\n", "import torch as th\ny = th.log_softmax(x, dim=1)"),
        ("from torch import log\n", "from torch import log\nimport torch\n"
         "y = torch.log_softmax(x, dim=1)"),
    ],
)  # fmt: skip
def test_torch_by_the_name_it_has(tmp_path, head, after):
    assert first(tmp_path, head + "y = «x.softmax(1).log()»", "log_of_zero") == after


PICKED = """\
def nll(self, x, t):
    z = self.gate(x) / self.temperature
    p = torch.softmax(z, dim=-1)
    q = p.gather(1, t[:, None]).squeeze(1)
    {line}return -«torch.log(q)».mean()
"""


def test_a_logarithm_of_what_is_picked_from_a_softmax(tmp_path):
    logs = "torch.log_softmax(z, dim=-1).gather(1, t[:, None]).squeeze(1)"
    assert body(tmp_path, PICKED.format(line=""), "log_of_zero") == (
        "def nll(self, x, t):\n    z = self.gate(x) / self.temperature\n"
        f"    return -{logs}.mean()\n"
    )
    line = "y = «torch.softmax(z, 1)[torch.arange(len(t)), t].log()»"
    assert body(tmp_path, line, "log_of_zero") == (
        "y = torch.log_softmax(z, dim=1)[torch.arange(len(t)), t]"
    )


@pytest.mark.parametrize("line", ["z = z * 2", "z *= 2", "z, k = f(z)", "z.mul_(2)"])
def test_a_name_that_is_another_value_by_then(tmp_path, line):
    found = body(tmp_path, PICKED.format(line=line + "\n    "), "log_of_zero")
    assert "log_softmax" not in found
    assert "torch.log(q.clamp(min=1e-8))" in found


@pytest.mark.parametrize(
    "lines",
    [
        "def nll(x, p=None):\n    if p is None:\n        p = torch.softmax(x, 1)\n"
        "    return «torch.log(p)»\n",
        "def nll(x, *, p):\n    p = torch.softmax(x, 1)\n    return «torch.log(p)»\n",
        "p = torch.softmax(x, 1)\nfor _ in range(3):\n    y = «torch.log(p)»\n    x = x + 1\n",
        "p = torch.softmax(x, 1)\nwhile x.sum() < 3:\n    y = «torch.log(p)»\n    x.add_(1)\n",
        "p = torch.softmax(x, 1)\ny = [«torch.log(p)» for x in xs]\n",
        "with torch.no_grad():\n    p = torch.softmax(x, 1)\ny = «torch.log(p)»\n",
        "if c:\n    p = torch.softmax(x, 1)\ny = «torch.log(p)»\n",
        "p = torch.softmax(x, 1)\nF.relu(x, inplace=True)\ny = «torch.log(p)»\n",
        "p = torch.softmax(x, 1)\ntorch.relu_(x)\ny = «torch.log(p)»\n",
        "p = torch.softmax(x, 1)\nx[0].zero_()\ny = «torch.log(p)»\n",
        "p = torch.softmax(x, 1)\ntorch.exp(z, out=x)\ny = «torch.log(p)»\n",
    ],
)
def test_a_name_that_may_be_another_value_there(tmp_path, lines):
    assert "torch.log(p.clamp(min=1e-8))" in body(tmp_path, lines, "log_of_zero")


@pytest.mark.parametrize(
    "lines",
    [
        "p = torch.softmax(x, 1)\nfor _ in range(3):\n    y = y + «torch.log(p)»\n",
        "for x in xs:\n    p = torch.softmax(x, 1)\n    y = «torch.log(p)»\n    x = None\n",
        "p = torch.softmax(x, 1)\nif c:\n    with torch.no_grad():\n        y = «torch.log(p)»\n",
        "p = torch.softmax(x, 1)\nF.relu(x, inplace=False)\ny = «torch.log(p)»\n",
    ],
)
def test_a_name_that_is_the_same_value_there(tmp_path, lines):
    assert "torch.log_softmax(x, dim=1)" in body(tmp_path, lines, "log_of_zero")


def test_a_softmax_that_is_a_layer(tmp_path):
    lines = (
        "class C:\n    def __init__(self):\n        self.softmax = torch.nn.Softmax({dim})\n"
        "    def f(self, z):\n        return «torch.log(self.softmax(z))»\n"
    )
    found = body(tmp_path, lines.format(dim="dim=1"), "log_of_zero")
    assert found.endswith("return torch.log_softmax(z, dim=1)\n")
    found = body(tmp_path, lines.format(dim="d"), "log_of_zero")
    assert found.endswith("return torch.log(self.softmax(z).clamp(min=1e-8))\n")


@pytest.mark.parametrize(
    "line",
    [
        "y = «x.exp_().sum(1).log()»",
        "y = «torch.log(torch.sigmoid_(x))»",
        "y = «torch.log(1 - x.sigmoid_())»",
        "y = «(x.exp_() / x.sum(1)).log()»",
        "y = «torch.log(torch.exp(x, out=e).sum(1))»",
        "y = «x.exp().sum(1, dtype=torch.float64).log()»",
        "e = self.h.exp_()\ny = «e.sum(1).log()»",
        "p = net(x).softmax_(1)\ny = «p.log()»",
        "y = «torch.log(1 - x.exp_())»",
        "y = «torch.log(self.sigmoid(x))»",
        "def sigmoid(x): return 2 * x\ny = «torch.log(1 - sigmoid(x))»",
        "y = -(t * «torch.log(z.sigmoid_())» + (1 - t) * torch.log(1 - z.sigmoid_()))",
    ],
)
def test_a_logarithm_of_what_does_more_than_that(tmp_path, line):
    found = set(proposals(tmp_path, HEAD + line, "log_of_zero"))
    assert found == {"clamp_before_log", "replace_not_finite"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = «F.softmax(x, 1, dtype=torch.float32).log()»",
         "y = torch.log_softmax(x, dim=1, dtype=torch.float32)"),
        ("y = «x.softmax(1, torch.float32).log()»",
         "y = x.softmax(1, torch.float32).clamp(min=1e-8).log()"),
        ("s.act = torch.nn.Sigmoid()\ny = «torch.log(s.act(x))»",
         "s.act = torch.nn.Sigmoid()\ny = torch.log(s.act(x).clamp(min=1e-8))"),
        ("self.sigmoid = torch.nn.Sigmoid()\ny = «torch.log(self.sigmoid(x))»",
         "self.sigmoid = torch.nn.Sigmoid()\ny = F.logsigmoid(x)"),
    ],
)  # fmt: skip
def test_a_logarithm_keeps_what_was_asked_for(tmp_path, before, after):
    assert body(tmp_path, before, "log_of_zero") == after


def test_healthy_values_may_be_smaller_than_the_usual_bound(tmp_path):
    case = case_of(tmp_path, HEAD + "y = «torch.log(p)»", "log_of_zero")
    texts = [patched(case, c) for c in propose.candidates(case) if c.id == "clamp_before_log"]
    assert texts[1].endswith("y = torch.log(p.clamp(min=torch.finfo(torch.float32).tiny))")
    assert texts[2].endswith("y = torch.log(p.clamp(min=2.94e-39))")


def test_a_logarithm_that_is_weighted_by_its_own_argument(tmp_path):
    line = "k = (p * («torch.log(p)» - q)).sum()"
    found = proposals(tmp_path, HEAD + line, "log_of_zero")["one_for_zero"]
    assert found.endswith("k = (p * (torch.log(p.masked_fill(p == 0, 1.0)) - q)).sum()")
    for line in ("k = w * «torch.log(p)»", "k = p * (1 - «torch.log(p)».sum())", "k = -«p.log()»"):
        assert "one_for_zero" not in proposals(tmp_path, HEAD + line, "log_of_zero")


BCE = "binary_cross_entropy_with_logits"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("p = torch.sigmoid(z)\nl = -(y * torch.log(p) + (1 - y) * «torch.log(1 - p)»)",
         f'p = torch.sigmoid(z)\nl = F.{BCE}(z, y, reduction="none")'),
        ("p = torch.sigmoid(z)\nl = -(y * «torch.log(p)» + (1 - y) * torch.log(1 - p)).mean()",
         f"p = torch.sigmoid(z)\nl = F.{BCE}(z, y)"),
        ("p = z.sigmoid()\nl = -torch.sum(\n  y * «p.log()»\n  + (1. - y) * (1. - p).log()\n)",
         f'p = z.sigmoid()\nl = F.{BCE}(z, y, reduction="sum")'),
        ("p = torch.sigmoid(z)\nl = [(1 - y) * «torch.log(1 - p)» + y * torch.log(p) for y in ys]",
         f'p = torch.sigmoid(z)\nl = [-F.{BCE}(z, y, reduction="none") for y in ys]'),
    ],
)  # fmt: skip
def test_a_binary_cross_entropy_by_hand(tmp_path, before, after):
    assert body(tmp_path, before, "log_of_zero") == after


def test_a_binary_cross_entropy_of_probabilities(tmp_path):
    line = "l = «F.binary_cross_entropy(torch.sigmoid(z), y, reduction='sum')»"
    half = tensor(dtype="float16")
    assert body(tmp_path, line, "half_overflow", half) == f"l = F.{BCE}(z, y, reduction='sum')"


def test_a_line_that_is_of_no_use_any_more_goes(tmp_path):
    lines = (
        "def f(z, y):\n    p = torch.sigmoid(z)\n"
        "    return -(y * «torch.log(p)» + (1 - y) * torch.log(1 - p)).mean(){rest}\n"
    )
    found = body(tmp_path, lines.format(rest=""), "log_of_zero")
    assert found == f"def f(z, y):\n    return F.{BCE}(z, y)\n"
    found = body(tmp_path, lines.format(rest=", p"), "log_of_zero")
    assert found == f"def f(z, y):\n    p = torch.sigmoid(z)\n    return F.{BCE}(z, y), p\n"


def test_a_line_that_is_all_of_its_block_stays(tmp_path):
    lines = (
        "def f(z, y):\n    with torch.enable_grad():\n        p = torch.sigmoid(z)\n"
        "    return -(y * «torch.log(p)» + (1 - y) * torch.log(1 - p)).mean()\n"
    )
    found = body(tmp_path, lines, "log_of_zero")
    assert "        p = torch.sigmoid(z)\n" in found


def test_what_is_no_binary_cross_entropy(tmp_path):
    for line in (
        "l = -(y * «torch.log(p)» + (1 - w) * torch.log(1 - p))",
        "p = torch.sigmoid(z)\nl = -(y * «torch.log(p)» + (1 - w) * torch.log(1 - p))",
        "p = torch.sigmoid(net(x))\nl = -(y * «torch.log(p)» + (1 - y) * torch.log(1 - p))",
    ):
        assert BCE not in body(tmp_path, line, "log_of_zero")


def test_a_module_is_not_called_a_second_time(tmp_path):
    lines = "p = F.softmax(net(x), dim=-1)  # all\ny = «torch.log(p[:, t])»\n"
    assert body(tmp_path, lines, "log_of_zero") == (
        "logits = net(x)\np = F.softmax(logits, dim=-1)  # all\n"
        "y = torch.log_softmax(logits, dim=-1)[:, t]\n"
    )
    lines = "if (p := torch.softmax(net(x), -1)).any():\n    y = «torch.log(p)»"
    assert "torch.log(p.clamp(min=1e-8))" in body(tmp_path, lines, "log_of_zero")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = «torch.log(1 - torch.exp(-x))»", "y = torch.log(-torch.expm1(-x))"),
        ("y = «(1 - x.exp()).log()»", "y = (-torch.expm1(x)).log()"),
        ("y = «torch.log(\n    torch.exp(a + b) - 1.0  # odds\n)»",
         "y = torch.log(\n    torch.expm1(a + b)  # odds\n)"),
    ],
)  # fmt: skip
def test_digits_that_cancel_in_a_logarithm(tmp_path, before, after):
    assert body(tmp_path, before, "log_of_zero") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = «x / (torch.exp(x) - 1)»", "y = x / torch.expm1(x)"),
        ("y = «x / torch.log(1 + x)»", "y = x / torch.log1p(x)"),
        ("y = «x / torch.log(1 - x * x)»", "y = x / torch.log1p(-(x * x))"),
        ("f = lambda x: «torch.reciprocal(1 - torch.exp(x))»",
         "f = lambda x: torch.reciprocal(-torch.expm1(x))"),
    ],
)  # fmt: skip
def test_digits_that_cancel_in_a_divisor(tmp_path, before, after):
    assert body(tmp_path, before, "division_by_zero", SIZES) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = torch.log(1 + «torch.exp(x)»)", "y = F.softplus(x)"),
        ("y = («x.exp()» + 1).log().sum()", "y = F.softplus(x).sum()"),
        ("y = torch.log1p(«torch.exp(a - b)»)", "y = F.softplus(a - b)"),
        ("y = torch.log(«torch.exp(x)» - 1)", "y = x + torch.log(-torch.expm1(-x))"),
    ],
)  # fmt: skip
def test_a_logarithm_around_an_exponential(tmp_path, before, after):
    assert body(tmp_path, before, "exp_overflow") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("l = «torch.log(p.prod(dim=1))»", "l = torch.log(p).sum(dim=1)"),
        ("l = «torch.log(torch.prod(p, 1))»", "l = torch.log(p).sum(1)"),
        ("l = «torch.log(torch.softmax(z, 1)[:, 0].prod())»",
         "l = torch.log_softmax(z, dim=1)[:, 0].sum()"),
    ],
)  # fmt: skip
def test_a_product_of_probabilities(tmp_path, before, after):
    assert body(tmp_path, before, "log_of_zero") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("g = «p.prod(1) ** (1.0 / n)»", "g = torch.exp(torch.log(p).sum(1) * (1.0 / n))"),
        ("g = «torch.prod(p, dim=1, keepdim=True).pow(0.5)»",
         "g = torch.exp(torch.log(p).sum(dim=1, keepdim=True) * 0.5)"),
    ],
)  # fmt: skip
def test_a_root_of_a_product(tmp_path, before, after):
    assert body(tmp_path, before, "pow_domain") == after


def test_a_logarithm_of_a_ratio_keeps_its_parentheses(tmp_path):
    found = proposals(tmp_path, HEAD + "k = (p * «(p / q).log()»).sum()", "log_of_zero")
    fill = "masked_fill(p == 0, 1.0)"
    assert found["one_for_zero"].endswith(f"k = (p * (p.{fill} / q.{fill}).log()).sum()")


def test_a_product_that_has_a_name(tmp_path):
    lines = (
        "def f(p):\n    likelihood = p.prod(dim=1)\n    return -«torch.log(likelihood)».mean()\n"
    )
    found = body(tmp_path, lines, "log_of_zero")
    assert found.endswith("return -torch.log(p).sum(dim=1).mean()\n")


@pytest.mark.parametrize("exactly", [-152.0, -18.42, None])
def test_a_bound_that_gives_another_value_than_the_right_one(tmp_path, exactly):
    case = case_of(tmp_path, HEAD + "y = «torch.log(p)»", "log_of_zero", tensor())
    tried = TriedExperiment("`p` made again in float64", "finite", exactly)
    cause = replace(case.finding.cause, experiments=[tried])
    case = replace(case, finding=replace(case.finding, cause=cause))
    clamp = next(c for c in propose.candidates(case) if c.id == "clamp_before_log")
    assert clamp.workaround is (exactly == -152.0)


def test_a_probability_that_a_mask_made_zero(tmp_path):
    """In log space it is 0 * -inf again; what underflowed has a logarithm."""
    line = "p = torch.softmax(x, -1)\ny = p * «torch.log(p)»"
    tried = TriedExperiment("`p` made again in float64", "still -inf")
    for exactly, id in ((None, "clamp_before_log"), (-200.0, "log_softmax")):
        case = case_of(tmp_path, HEAD + line, "log_of_zero", tensor(name="p", healthy=[0.2, 0.8]))
        cause = replace(case.finding.cause, experiments=[replace(tried, exactly=exactly)])
        case = Case(replace(case.finding, cause=cause), {}, case.folder)
        assert propose.first(case).id == id
