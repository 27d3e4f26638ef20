"""Each rewrite on source as people write it. Nothing is run: text in, text out."""

from __future__ import annotations

import math

import pytest
from proposing import case_of, first, patched, proposals, tensor

from nanscope.fix import instrument, propose
from nanscope.fix.rewrites import trigonometry

HEAD = "import torch\nimport torch.nn.functional as F\n"


def body(folder, line: str, cause: str, *inputs: dict, **more) -> str:
    """The best patch of code behind the imports."""
    text = first(folder, HEAD + line, cause, *inputs, **more)
    assert text.startswith(HEAD)
    return text.removeprefix(HEAD)


# -------------------------------------------------------------------------- division
COUNTS = tensor("other", max=2.0, mean=1.0)
SIZES = tensor("other", mean=0.4)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = «a / degree»", "y = a / degree.clamp(min=1)"),
        ("y = «a @ b / w.sum(1)»", "y = a @ b / w.sum(1).clamp(min=1)"),
        ("y = «torch.div(a, n)»", "y = torch.div(a, n.clamp(min=1))"),
        ("y = «a.div(n)».mean()", "y = a.div(n.clamp(min=1)).mean()"),
        ("«a.div_(n)»", "a.div_(n.clamp(min=1))"),
        ("«a /= n»", "a /= n.clamp(min=1)"),
        ("«a /= n + m»  # mean", "a /= (n + m).clamp(min=1)  # mean"),
        ("y = [«r / n» for r in rows]", "y = [r / n.clamp(min=1) for r in rows]"),
        ("f = lambda r: «r / n»", "f = lambda r: r / n.clamp(min=1)"),
        ("if (m := («a / n»).sum()) > 0: pass", "if (m := (a / n.clamp(min=1)).sum()) > 0: pass"),
        ("x: torch.Tensor = «a / n»", "x: torch.Tensor = a / n.clamp(min=1)"),
        ("@wrap(«a / n»)\ndef f(): ...", "@wrap(a / n.clamp(min=1))\ndef f(): ..."),
        ('print(f"{«a / n»}")', 'print(f"{a / n.clamp(min=1)}")'),
        ("def f():\n\treturn «a / n»\n", "def f():\n\treturn a / n.clamp(min=1)\n"),
        (
            "y = (\n    «a  # above\n    / (  # below\n    n + m  # both\n    )»\n)\n",
            "y = (\n    a  # above\n    / (  # below\n    n + m  # both\n    ).clamp(min=1)\n)\n",
        ),
    ],
)
def test_a_count_that_divides(tmp_path, before, after):
    assert body(tmp_path, before, "division_by_zero", COUNTS) == after


def test_eps_has_the_scale_of_the_divisor(tmp_path):
    found = body(tmp_path, "y = «x / x.abs().mean()»", "division_by_zero", SIZES)
    assert found == "y = x / x.abs().mean().clamp(min=1e-8)"
    small = tensor("other", mean=2e-6)
    assert "clamp(min=1e-12)" in body(tmp_path, "y = «x / d»", "division_by_zero", small)
    half = tensor("other", dtype="float16", mean=0.4)
    assert "clamp(min=1e-4)" in body(tmp_path, "y = «x / d»", "division_by_zero", half)


def test_a_divisor_with_both_signs_keeps_them(tmp_path):
    facts = tensor("other", negatives=2, mean=0.1)
    found = body(tmp_path, "y = «a / (b - c)»", "division_by_zero", facts)
    assert found == "y = a / (b - c).masked_fill((b - c) == 0, 1e-8)"


def test_windows_line_endings_and_comments_survive(tmp_path):
    before = "import torch\r\ny = «a / n»  # per node\r\nz = 1\r\n"
    found = first(tmp_path, before, "division_by_zero", COUNTS)
    assert found == "import torch\r\ny = a / n.clamp(min=1)  # per node\r\nz = 1\r\n"


def test_an_encoding_survives(tmp_path):
    marked = "# -*- coding: latin-1 -*-\nx = 'e'\ny = «a / n»\n"
    case = case_of(tmp_path, marked, "division_by_zero")
    path = tmp_path / "train.py"
    path.write_bytes(path.read_bytes().replace(b"'e'", b"'\xe9'"))
    (only,) = instrument.patched(case.files, propose.candidates(case)[0]).values()
    assert b"'\xe9'" in only.data


def test_a_byte_order_mark_survives(tmp_path):
    case = case_of(tmp_path, "import torch\ny = «a / n»\n", "division_by_zero")
    path = tmp_path / "train.py"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    text = patched(case, propose.candidates(case)[0]).encode()
    assert text.startswith(b"\xef\xbb\xbfimport torch\n")


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


# -------------------------------------------------------------------------- comments
LONG = """\
def f(g):
    return torch.log(1.0) * (
        «torch.sqrt(  # the length
            # of each
            g.pow(2)  # squares
            .sum(dim=1)
        )»  # per row
    )
"""


def test_comments_of_what_is_replaced_go_above_the_statement(tmp_path):
    saved = tensor("saved result")
    found = body(tmp_path, LONG, "sqrt_gradient_at_zero", saved, phase="backward")
    assert found == (
        "def f(g):\n    # the length\n    # of each\n    # squares\n    # per row\n"
        "    return torch.log(1.0) * torch.linalg.vector_norm(g, dim=1)\n"
    )
    windows = LONG.replace("\n", "\r\n").replace("    ", "\t")
    found = body(tmp_path, windows, "sqrt_gradient_at_zero", saved, phase="backward")
    assert found.startswith("def f(g):\r\n\t# the length\r\n\t# of each\r\n\t# squares\r\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if ok: y = «torch.log(  # why\n  x.softmax(1))»\n",
         "# why\nif ok: y = torch.log_softmax(x, dim=1)\n"),
        ("if («torch.log(  # why\n  x.softmax(1))» > 0).any():\n    pass\n",
         "# why\nif (torch.log_softmax(x, dim=1) > 0).any():\n    pass\n"),
        ("if a:\n    pass\nelif «x.softmax(  # why\n    1).log()».any():\n    pass\n",
         "if a:\n    pass\n# why\nelif torch.log_softmax(x, dim=1).any():\n    pass\n"),
        ("@wrap(1)\n@wrap(«torch.log(  # why\n  x.softmax(1))»)\ndef f(): ...\n",
         "@wrap(1)\n# why\n@wrap(torch.log_softmax(x, dim=1))\ndef f(): ...\n"),
        ("y = [\n  «torch.log(  # '#1' why\n  x.softmax(1))» for x in '# no'\n]\n",
         "# '#1' why\ny = [\n  torch.log_softmax(x, dim=1) for x in '# no'\n]\n"),
        ("y = «torch.log(  # why\n  torch.softmax((\n    a  # left\n    + b), 1))»\n",
         "# why\ny = torch.log_softmax((\n    a  # left\n    + b), dim=1)\n"),
    ],
)  # fmt: skip
def test_comments_of_statements_of_all_kinds(tmp_path, before, after):
    assert body(tmp_path, before, "log_of_zero") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = -(torch.exp(a) / «torch.exp(s)».sum(dim=1)).log().mean()",
         "y = -(a - torch.logsumexp(s, dim=1)).mean()"),
        ("def f(s, a):\n    d = «torch.exp(s)».sum(1)[:-1]\n    return torch.log(a.exp() / d)\n",
         "def f(s, a):\n    return a - torch.logsumexp(s, dim=1)[:-1]\n"),
        ("y = torch.log(«torch.exp(a - b)» / x.exp().sum(1))[0]",
         "y = ((a - b) - torch.logsumexp(x, dim=1))[0]"),
    ],
)  # fmt: skip
def test_a_logarithm_of_a_quotient_of_exponentials(tmp_path, before, after):
    assert body(tmp_path, before, "exp_overflow") == after


def test_an_exponential_that_is_used_elsewhere_is_not_lost_in_a_logarithm(tmp_path):
    lines = "def f(x):\n    e = «x.exp()»\n    return torch.log(e.sum(1)), e\n"
    assert "logsumexp" not in body(tmp_path, lines, "exp_overflow")


# -------------------------------------------------------------------------- roots, norms, powers
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("n = «g.pow(2).sum(1).sqrt()»", "n = torch.linalg.vector_norm(g, dim=1)"),
        ("n = «torch.sqrt((g ** 2).sum())»", "n = torch.linalg.vector_norm(g)"),
        ("n = «(g * g).sum(-1, keepdim=True) ** 0.5»",
         "n = torch.linalg.vector_norm(g, dim=-1, keepdim=True)"),
        ("n = «torch.sqrt(v)»", "n = torch.sqrt(v.clamp(min=1e-12))"),
        ("n = «torch.sum(torch.square(g), dim=1).sqrt()»",
         "n = torch.linalg.vector_norm(g, dim=1)"),
    ],
)  # fmt: skip
def test_a_root_at_zero(tmp_path, before, after):
    saved = tensor("saved result")
    assert body(tmp_path, before, "sqrt_gradient_at_zero", saved, phase="backward") == after


def test_a_norm_of_what_is_squared_in_place(tmp_path):
    found = body(
        tmp_path, "y = «x.pow_(2).sum(1).sqrt()»", "sqrt_gradient_at_zero", phase="backward"
    )
    assert "x.pow_(2).sum(1)" in found


def test_a_root_of_a_negative_variance(tmp_path):
    facts = tensor(negatives=1, mean=-0.5)
    found = body(tmp_path, "s = «torch.sqrt(var)»", "sqrt_of_negative", facts)
    assert found == "s = torch.sqrt(var.clamp(min=1e-8))"


def test_powers(tmp_path):
    assert (
        body(tmp_path, "y = «(1 - p) ** 0.5»", "pow_domain") == "y = (1 - p).clamp(min=1e-8) ** 0.5"
    )
    found = body(tmp_path, "d = «deg.pow(-0.5)»", "pow_domain", tensor(max=3.0, mean=1.5))
    assert found == "d = deg.clamp(min=1).pow(-0.5)"


def test_hypot(tmp_path):
    found = body(tmp_path, "m = «torch.hypot(a, b)»", "norm_gradient_at_zero", phase="backward")
    assert found == "m = torch.linalg.vector_norm(torch.stack([a, b]), dim=0)"


# -------------------------------------------------------------------------- exp, trigonometry
def test_a_softmax_by_hand(tmp_path):
    lines = "def f(z):\n    e = «torch.exp(z)»\n    return e / e.sum(1, keepdim=True)\n"
    assert body(tmp_path, lines, "exp_overflow") == (
        "def f(z):\n    e = torch.exp(z - z.amax(dim=1, keepdim=True))\n"
        "    return e / e.sum(1, keepdim=True)\n"
    )
    line = "p = «torch.exp(z)» / torch.exp(z).sum(-1, keepdim=True)"
    assert body(tmp_path, line, "exp_overflow") == "p = torch.softmax(z, dim=-1)"


def test_an_exponent_is_bounded_by_its_type(tmp_path):
    line = "r = «torch.exp(a - b)»"
    assert body(tmp_path, line, "exp_overflow") == "r = torch.exp((a - b).clamp(max=80.0))"
    half = tensor(dtype="float16")
    assert "clamp(max=10.0)" in body(tmp_path, line, "exp_overflow", half)


def test_what_goes_into_several_exponentials_is_bounded_once(tmp_path):
    lines = (
        "def f(h):\n    mu, logvar = h.chunk(2)  # of the encoder\n"
        "    std = «(0.5 * logvar).exp()»\n    return mu + std, logvar.exp()\n"
    )
    assert body(tmp_path, lines, "exp_overflow") == (
        "def f(h):\n    mu, logvar = h.chunk(2)  # of the encoder\n"
        "    logvar = logvar.clamp(max=80.0)\n"
        "    std = (0.5 * logvar).exp()\n    return mu + std, logvar.exp()\n"
    )


@pytest.mark.parametrize(
    "made",
    [
        "self.logvar = h",
        "if c:\n        logvar = h",
        "logvar[0] = h",
    ],
)
def test_what_goes_into_several_exponentials_and_has_no_one_place(tmp_path, made):
    name = "self.logvar" if "self" in made else "logvar"
    lines = (
        f"def f(self, h, logvar):\n    {made}\n    return «(0.5 * {name}).exp()», {name}.exp()\n"
    )
    found = body(tmp_path, lines, "exp_overflow")
    assert f"return (0.5 * {name}).clamp(max=80.0).exp(), {name}.exp()\n" in found


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = «((a - b) / s) ** 2»", "y = ((a - b) / s.clamp(min=1e-12)) ** 2"),
        ("y = «a / s»", "y = a / s.clamp(min=1e-12)"),
    ],
)
def test_a_quotient_that_overflows(tmp_path, before, after):
    found = proposals(tmp_path, HEAD + before, "float_overflow", step=0)["clamp_divisor"]
    assert found == HEAD + after


def test_the_last_number_inside_the_domain_is_another_than_its_edge():
    last = float(trigonometry.LAST["float64"])
    assert 1 - last == math.nextafter(1.0, 0.0) and 1 + last == math.nextafter(1.0, 2.0)


def test_inverse_trigonometry(tmp_path):
    line = "a = «torch.acos(c)»"
    assert body(tmp_path, line, "inverse_trig_domain") == "a = torch.acos(c.clamp(-1.0, 1.0))"
    inside = body(tmp_path, line, "inverse_trig_domain", phase="backward")
    assert inside == "a = torch.acos(c.clamp(-1 + 1e-7, 1 - 1e-7))"
    case = case_of(tmp_path, HEAD + line, "inverse_trig_domain", phase="backward")
    least = patched(case, propose.candidates(case)[1])
    assert least.endswith("a = torch.acos(c.clamp(-1 + 6e-8, 1 - 6e-8))")
    line = "a = «torch.acos(c.clamp(-1.0, 1.0))»"
    assert body(tmp_path, line, "inverse_trig_domain", phase="backward") == inside


# -------------------------------------------------------------------------- where, softmax, masks
def test_the_double_where_takes_the_condition_that_is_there(tmp_path):
    line = "y = torch.where(x > 1, «torch.sqrt(x - 1)», x)"
    found = body(tmp_path, line, "where_gradient_leak")
    assert found == "y = torch.where(x > 1, torch.sqrt(torch.where(x > 1, x - 1, 1.0)), x)"
    lines = "k = «a / s»\ny = torch.where(s > 0, k, 2.0)"
    found = body(tmp_path, lines, "where_gradient_leak")
    assert found == "k = a / torch.where(s > 0, s, 1.0)\ny = torch.where(s > 0, k, 2.0)"


def test_rows_that_are_masked_as_a_whole(tmp_path):
    found = body(tmp_path, "p = «s.softmax(-1)»", "all_masked_softmax")
    assert found == "p = s.masked_fill(s.isneginf().all(dim=-1, keepdim=True), 0.0).softmax(-1)"
    found = body(tmp_path, "z = «torch.logsumexp(a + e, dim=0)»", "inf_minus_inf")
    assert found == (
        "z = torch.logsumexp((a + e).clamp(min=torch.finfo(torch.float32).min), dim=0)"
    )


def test_zero_times_infinity(tmp_path):
    assert body(tmp_path, "h = «p * torch.log(p)»", "zero_times_inf") == "h = torch.xlogy(p, p)"
    mask = tensor("other", at_index=[0.0])
    found = body(tmp_path, "h = «x * mask»", "zero_times_inf", mask)
    assert found == "h = x.masked_fill(mask == 0, 0.0) * mask"


# -------------------------------------------------------------------------- reductions
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("l = «F.cross_entropy(z, t, ignore_index=-1)»",
         'l = F.cross_entropy(z, t, ignore_index=-1, reduction="sum") '
         "/ (t != -1).sum().clamp(min=1)"),
        ("l = l + «F.cross_entropy(z, t)»",
         'l = l + (F.cross_entropy(z, t, reduction="sum") / (t != -100).sum().clamp(min=1))'),
        ("m = «x[k].mean()»", "m = x[k].sum() / max(x[k].numel(), 1)"),
        ("m = «x[k].mean(dim=0)»", "m = x[k].sum(dim=0) / max(x[k].shape[0], 1)"),
        ("m = «torch.mean(h, -1, keepdim=True)» * 2",
         "m = (h.sum(-1, keepdim=True) / max(h.shape[-1], 1)) * 2"),
        ("v = «torch.var(x, dim=(2, 3), keepdim=True)»",
         "v = torch.var(x, dim=(2, 3), keepdim=True, unbiased=False)"),
        ("v = «x.std()»", "v = x.std(correction=min(1, x.numel() - 1))"),
        ("v = «x.std(0)»", "v = x.std(0, correction=min(1, x.shape[0] - 1))"),
        ("l = «F.mse_loss(\n    a,\n    b,\n)»",
         'l = F.mse_loss(\n    a,\n    b, reduction="sum",\n) / max(a.numel(), 1)'),
    ],
)  # fmt: skip
def test_reductions_over_nothing(tmp_path, before, after):
    assert body(tmp_path, before, "empty_reduction") == after


@pytest.mark.parametrize(
    ("line", "cause", "name"),
    [
        ("y = net(x) * «torch.log(net(x))»", "log_of_zero", "one_for_zero"),
        ("m = «net(x).mean(1)»", "empty_reduction", "sum_over_count"),
        ("v = «net(x).var(1)»", "empty_reduction", "correction_by_count"),
        ("l = «F.cross_entropy(z, draw(t))»", "empty_reduction", "sum_over_count"),
        ("y = «a / net(x)»", "division_by_zero", "replace_zero_divisor"),
        ("y = «torch.linalg.inv(net(x))»", "singular_matrix", "jitter_on_diagonal"),
        ("y = torch.where(x > 0, «torch.sqrt(F.dropout(x))», 0)", "where_gradient_leak", "none"),
        ("e = «torch.exp(net(x))»\ny = e / e.sum(1)", "exp_overflow", "subtract_max"),
    ],
)
def test_a_module_is_not_run_twice(tmp_path, line, cause, name):
    found = proposals(tmp_path, HEAD + line, cause, tensor("other", negatives=1))
    assert name not in found
    calls = ("net(x)", "draw(t)", "dropout(x)")
    assert all(text.count(c) == line.count(c) for text in found.values() for c in calls)


def test_a_module_that_masks_whole_rows_has_a_name(tmp_path):
    assert body(tmp_path, "y = «torch.softmax(net(x), 1)»", "all_masked_softmax") == (
        "y = torch.softmax((scores := net(x))"
        ".masked_fill(scores.isneginf().all(dim=1, keepdim=True), 0.0), 1)"
    )


def test_of_a_module_and_a_target_the_target_is_counted(tmp_path):
    line = "l = «F.mse_loss(net(x), y)»"
    assert body(tmp_path, line, "empty_reduction") == (
        'l = F.mse_loss(net(x), y, reduction="sum") / max(y.numel(), 1)'
    )


def test_a_loss_module_over_nothing(tmp_path):
    lines = "criterion = torch.nn.CrossEntropyLoss(ignore_index=0)\nl = «criterion(net(x), t)»\n"
    assert body(tmp_path, lines, "empty_reduction") == (
        'criterion = torch.nn.CrossEntropyLoss(ignore_index=0, reduction="sum")\n'
        "l = criterion(net(x), t) / (t != 0).sum().clamp(min=1)\n"
    )
    twice = lines + "v = criterion(net(x), u)\n"
    assert "reduction" not in body(tmp_path, twice, "empty_reduction")


def test_ctc(tmp_path):
    line = "l = «F.ctc_loss(p, t, n, m)»"
    assert (
        body(tmp_path, line, "bad_input_data") == "l = F.ctc_loss(p, t, n, m, zero_infinity=True)"
    )


# -------------------------------------------------------------------------- half precision, memory
def test_half_precision(tmp_path):
    half = tensor(dtype="float16")
    assert body(tmp_path, "h = «a + b»", "half_overflow", half) == "h = a.float() + b.float()"
    found = proposals(tmp_path, HEAD + "h = «a + b»", "half_overflow", half)
    assert found["saturate_in_half"].endswith(
        "h = (a.float() + b.float()).clamp(-65504.0, 65504.0).to(torch.float16)"
    )
    assert body(tmp_path, "n = «m.half()»", "half_overflow", tensor()) == "n = m"
    case = case_of(tmp_path, HEAD + "e = «(h * h).sum(dim=1)»", "half_overflow", half)
    found = [(patched(case, c).removeprefix(HEAD), c.workaround) for c in propose.candidates(case)]
    assert found[:2] == [
        ("e = (h * h).float().sum(dim=1)", False),
        ("e = (h.float() * h.float()).sum(dim=1)", False),
    ]
    assert all(workaround for _, workaround in found[2:])
    assert body(tmp_path, "i = «(v + 1e-12).pow(-0.5)»", "eps_underflow", half) == (
        "i = (v + 1e-7).pow(-0.5)"
    )


END = "torch.finfo(torch.float8_e5m2).max"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "q = «(g * s).to(torch.float8_e5m2)»",
            f"q = (g * s).clamp(-{END}, {END}).to(torch.float8_e5m2)",
        ),
        ("«cache[i].copy_(g)»", f"cache[i].copy_(g.clamp(-{END}, {END}))"),
        ("q = «a @ b»", None),
    ],
)
def test_a_cast_to_float8_stops_at_its_end(tmp_path, before, after):
    case = case_of(tmp_path, HEAD + before, "eight_bit_overflow", tensor())
    case.finding["outputs"] = [tensor(dtype="float8_e5m2")]
    case.origin["output"] = 0
    found = propose.first(case)
    assert (patched(case, found) if found else None) == (after and HEAD + after)


def test_a_product_is_scaled_before(tmp_path):
    half = tensor(dtype="float16")
    line = "s = «q @ k.transpose(-2, -1)» / math.sqrt(d)"
    after = "s = (q / math.sqrt(d)) @ k.transpose(-2, -1)"
    assert body(tmp_path, line, "half_overflow", half) == after
    assert body(tmp_path, line, "float_overflow", step=0) == after
    line = "s = «torch.bmm(q, k)» * self.scale + bias"
    after = "s = torch.bmm((q * self.scale), k) + bias"
    assert body(tmp_path, line, "half_overflow", half) == after


def test_autocast_is_left_for_one_op(tmp_path):
    half = tensor(dtype="float16")
    lines = "with torch.autocast('cpu'):\n\th = (\n\t\t«a @ b»  # scores\n\t)\n"
    assert body(tmp_path, lines, "half_overflow", half) == (
        "with torch.autocast('cpu'):\n"
        '\twith torch.autocast("cpu", enabled=False):\n'
        "\t\th = (\n\t\ta.float() @ b.float()  # scores\n\t)\n"
    )
    lines = "# autocast\nh = «self.net.head(x)»\n"
    case = case_of(tmp_path, HEAD + lines, "half_overflow", half)
    assert propose.first(case) is None  # no product: a module of the user's is left alone
    case.origin["op"] = "aten::addmm"
    assert patched(case, propose.first(case)).endswith(
        'with torch.autocast("cpu", enabled=False):\n    h = self.net.head(x.float())\n'
    )


def test_a_loss_scale(tmp_path):
    found = body(tmp_path, "scale = «scale * 2»", "loss_scale_runaway")
    assert found == "scale = (scale * 2).clamp(max=2.0**24)"
    found = body(tmp_path, "if ok: «self.scale *= 2.0»  # grow", "loss_scale_runaway")
    assert found == "if ok: self.scale = (self.scale * 2.0).clamp(max=2.0**24)  # grow"
    lines = "scale = 65536.0\n(«loss * scale»).backward()\nscale *= 2  # more\n"
    found = body(tmp_path, lines, "float_overflow", tensor(name="loss"))
    assert found.endswith("scale = min(scale * 2, 2.0**24)  # more\n")
    found = body(tmp_path, lines, "float_overflow", tensor(name="scale"))
    assert found.endswith("scale = (scale * 2).clamp(max=2.0**24)  # more\n")
    halves = lines.replace("*= 2", "*= 0.5")
    assert "bound_loss_scale" not in proposals(tmp_path, HEAD + halves, "float_overflow")


@pytest.mark.parametrize(
    "lines",
    [
        "scaled = «total * s.scale»\nscaled.backward()\ns.scale *= 0x2\n",
        "class Scaler:\n    def up(self, loss):\n        return «loss * self.scale»\n"
        "    def update(self):\n        self.scale = self.scale * 2.0\n",
        "torch.autograd.backward(«total * scale»)\nscale *= 2\n",
    ],
)
def test_a_loss_scale_that_grows_elsewhere(tmp_path, lines):
    found = proposals(tmp_path, HEAD + lines, "float_overflow", tensor(name="loss"))
    assert "scale = min(" in found["bound_loss_scale"]


@pytest.mark.parametrize(
    "lines",
    [
        "for _ in range(200):\n    h = «h * 2.0»\n",
        "for _ in range(200):\n    h *= 2.0\n    y = «h * w»\ny.sum().backward()\n",
        "def grow(scale):\n    scale *= 2\n\n"
        "def step(loss, scale):\n    («loss * scale»).backward()\n",
        "class A:\n    def up(self):\n        self.scale *= 2\nclass B:\n"
        "    def up(self, loss):\n        return «loss * self.scale»\n",
    ],
)
def test_what_grows_is_no_loss_scale(tmp_path, lines):
    for cause in ("float_overflow", "half_overflow"):
        found = proposals(tmp_path, HEAD + lines, cause, tensor(name="h"))
        assert "bound_loss_scale" not in found


def test_values_that_are_equal(tmp_path):
    apart = "A + torch.eye(*A.shape[-2:]) * torch.linspace(0.0, 1e-6, A.shape[-1], dtype=A.dtype)"
    line, how = "w, v = «torch.linalg.eigh(A)»", {"phase": "backward"}
    found = body(tmp_path, line, "degenerate_decomposition", **how)
    assert found == f"w, v = torch.linalg.eigh({apart})"
    found = body(tmp_path, "u, s, v = «A.svd()»", "degenerate_decomposition", **how)
    assert found == f"u, s, v = ({apart}).svd()"


def test_memory(tmp_path):
    found = body(tmp_path, "b = «torch.empty(4, 2)»", "uninitialised_memory")
    assert found == "b = torch.zeros(4, 2)"
    found = body(tmp_path, "b = «x.new_empty(4)»", "uninitialised_memory")
    assert found == "b = x.new_zeros(4)"


# -------------------------------------------------------------------------- data, training
def test_samples_are_left_out_where_they_enter(tmp_path):
    lines = "def step(x):\n    h = «lin(x)»\n    return h\n"
    facts = tensor(name="x", shape=[8, 3], nan=1)
    assert body(tmp_path, lines, "bad_input_data", facts) == (
        "def step(x):\n"
        "    x = x[x.isfinite().all(dim=1)]  # leave out samples that are not finite\n"
        "    h = lin(x)\n    return h\n"
    )


@pytest.mark.parametrize(
    ("loop", "names", "rows"),
    [
        ("for x, y in loader:", "x, y", "x[keep], y[keep]"),
        ("for i, (x, y, w) in enumerate(loader):", "x, y, w", "x[keep], y[keep], w[keep]"),
    ],
)
def test_what_is_drawn_together_is_left_out_together(tmp_path, loop, names, rows):
    lines = f"{loop}\n\topt.zero_grad()\n\tloss = F.mse_loss(«net(x)», y)\n"
    facts = tensor(name="x", shape=[8, 3], nan=1)
    assert body(tmp_path, lines, "bad_input_data", facts) == (
        f"{loop}\n"
        "\tkeep = x.isfinite().all(dim=1)  # leave out samples that are not finite\n"
        f"\t{names} = {rows}\n"
        "\topt.zero_grad()\n\tloss = F.mse_loss(net(x), y)\n"
    )


def test_the_counter_of_a_loop_is_no_sample(tmp_path):
    lines = "for i, x in enumerate(loader):\n    y = «net(x)»\n"
    found = body(tmp_path, lines, "bad_input_data", tensor(name="x", shape=[8, 3], nan=1))
    assert "    x = x[x.isfinite().all(dim=1)]" in found


def test_samples_that_are_flattened_later(tmp_path):
    lines = "for x, y in loader:\n    x = x.flatten(1)\n    z = «net(x)»\n"
    found = body(tmp_path, lines, "bad_input_data", tensor(name="x", shape=[8, 3], nan=1))
    assert "in loader:\n    keep = x.isfinite().flatten(1).all(dim=1)" in found


def test_data_inside_a_module_has_the_name_it_was_given(tmp_path):
    lines = "for i, (data, target) in enumerate(loader):\n    out = «net(data)»\n"
    facts = tensor(name="mat1", shape=[8, 3], pos_inf=1)
    assert body(tmp_path, lines, "bad_input_data", facts) == (
        "for i, (data, target) in enumerate(loader):\n"
        "    keep = data.isfinite().flatten(1).all(dim=1)"
        "  # leave out samples that are not finite\n"
        "    data, target = data[keep], target[keep]\n"
        "    out = net(data)\n"
    )


TRAIN = """opt = torch.optim.SGD(m.parameters(), lr=1e-3, momentum=0.9)
for i in range(3):
    loss = «F.mse_loss(m(x), y)»
    loss.backward()
    opt.step()
"""


def test_a_lower_learning_rate(tmp_path):
    found = body(tmp_path, TRAIN, "learning_rate_divergence")
    assert "lr=1e-4, momentum=0.9" in found
    named = TRAIN.replace("lr=1e-3", "lr=rate").replace("opt =", "rate = 0.5\nopt =")
    assert "rate = 0.05\n" in body(tmp_path, named, "learning_rate_divergence")


@pytest.mark.parametrize(
    ("before", "spelled", "after"),
    [
        ("cfg = dict(lr=4.0, hidden=64)", 'cfg["lr"]', "cfg = dict(lr=0.4, hidden=64)"),
        ("cfg = {'lr': 4.0}", "cfg['lr']", "cfg = {'lr': 0.4}"),
        ("class C:\n    lr: float = 4.0", "C.lr", "class C:\n    lr: float = 0.4"),
        ('p.add_argument("--learning-rate", type=float, default=4.0)', "a.learning_rate",
         'p.add_argument("--learning-rate", type=float, default=0.4)'),
        ("k = 3", "k * 1e-2 + k", None),
        ("def fit(lr=4.0): pass\ncolour_lr = 3.0", "lr", "def fit(lr=0.4): pass\ncolour_lr = 3.0"),
    ],
)  # fmt: skip
def test_a_learning_rate_among_the_settings(tmp_path, before, spelled, after):
    lines = f"{before}\n{TRAIN.replace('1e-3', spelled)}"
    found = body(tmp_path, lines, "learning_rate_divergence")
    if after is None:
        assert f"lr=({spelled}) / 10, momentum" in found
    else:
        assert found.startswith(f"{after}\nopt = ")


def test_a_divergence_that_showed_in_a_softmax_by_hand(tmp_path):
    line = "p = «torch.exp(z)» / torch.exp(z).sum(-1, keepdim=True)"
    assert body(tmp_path, line, "learning_rate_divergence") == "p = torch.softmax(z, dim=-1)"


def test_what_the_cause_showed_as_is_tried_behind_it(tmp_path):
    lines = TRAIN.replace("F.mse_loss(m(x), y)", "torch.exp(m(x))")
    case = case_of(tmp_path, HEAD + lines, "learning_rate_divergence")
    case.finding["cause"]["others"] = [{"id": "exp_overflow", "why_not": "true, and only how"}]
    found = [c.id for c in propose.candidates(case)]
    assert found.index("clamp_before_exp") > found.index("lower_learning_rate")


def test_a_warm_up_instead(tmp_path):
    found = proposals(tmp_path, HEAD + TRAIN, "learning_rate_divergence")["warm_up"]
    assert found.removeprefix(HEAD) == (
        "opt = torch.optim.SGD(m.parameters(), lr=1e-3, momentum=0.9)\n"
        "warmup = torch.optim.lr_scheduler.LinearLR(opt, start_factor=0.01, total_iters=100)\n"
        "for i in range(3):\n    loss = F.mse_loss(m(x), y)\n    loss.backward()\n"
        "    opt.step()\n    warmup.step()\n"
    )
    method = (
        "from torch.optim import Adam\r\nclass T:\r\n\tdef __init__(self):\r\n"
        "\t\tself.opt = Adam(p, lr=0.1)  # best\r\n"
        "\tdef fit(self):\r\n\t\tl = «f(x)»\r\n\t\tself.opt.step()"
    )
    found = proposals(tmp_path, method, "learning_rate_divergence")["warm_up"]
    assert found.startswith("from torch.optim import Adam\r\nimport torch\r\nclass T:")
    assert "# best\r\n\t\tself.warmup = torch.optim.lr_scheduler.LinearLR(self.opt, " in found
    assert found.endswith("\t\tself.opt.step()\r\n\t\tself.warmup.step()")
    scheduled = TRAIN + "s = torch.optim.lr_scheduler.StepLR(opt, 3)\n"
    assert "warm_up" not in proposals(tmp_path, HEAD + scheduled, "learning_rate_divergence")


def test_an_overflow_before_any_update_is_not_the_learning_rate(tmp_path):
    case = case_of(tmp_path, HEAD + TRAIN, "float_overflow", step=0)
    assert not any(c.changes_training for c in propose.candidates(case))


def test_clipping_before_the_step(tmp_path):
    assert body(tmp_path, TRAIN, "exploding_gradients").endswith(
        "    torch.nn.utils.clip_grad_norm_("
        '[p for group in opt.param_groups for p in group["params"]], max_norm=1.0)\n'
        "    opt.step()\n"
    )


def test_training_is_marked_as_changed(tmp_path):
    case = case_of(tmp_path, HEAD + TRAIN, "exploding_gradients")
    found = [c for c in propose.candidates(case) if not c.workaround]
    assert found and all(c.changes_training for c in found)


def test_an_initialisation(tmp_path):
    lines = "W = torch.nn.Parameter(torch.zeros(3, 2))\nc = «x @ W / W.norm()»"
    assert body(tmp_path, lines, "bad_initialisation").startswith(
        "W = torch.nn.Parameter(torch.randn(3, 2) * 0.02)\n"
    )


def test_weights_that_begin_too_large(tmp_path):
    lines = "for l in net:\n    nn.init.normal_(l.weight, std=3.0)\ny = «net(x)»"
    found = proposals(tmp_path, HEAD + "from torch import nn\n" + lines, "bad_initialisation")
    assert "    nn.init.kaiming_normal_(l.weight)\n" in found["kaiming_initialisation"]
    assert "    nn.init.normal_(l.weight, std=0.3)\n" in found["smaller_initialisation"]
    lines = "w = torch.nn.Parameter(torch.randn(4, 4))\nw.data.normal_(0, 5)\ny = «x @ w»"
    found = proposals(tmp_path, HEAD + lines, "bad_initialisation")["smaller_initialisation"]
    assert found.removeprefix(HEAD) == (
        "w = torch.nn.Parameter(torch.randn(4, 4) * 0.1)\nw.data.normal_(0, 0.5)\ny = x @ w"
    )
    case = case_of(tmp_path, HEAD + TRAIN, "bad_initialisation", step=0)
    assert not any(c.changes_training for c in propose.candidates(case))


def test_only_weights_are_drawn_smaller(tmp_path):
    lines = (
        "from torch.nn import init\nnoise.normal_(0, 3)\n"
        "init.normal_(m.weight, 0, 0x3, generator=g)\n"
        "init.normal_(m.bias)\nfor p in net.parameters():\n    p.data.normal_(0, 5)\ny = «net(x)»"
    )
    found = proposals(tmp_path, HEAD + lines, "bad_initialisation")
    kaiming, smaller = found["kaiming_initialisation"], found["smaller_initialisation"]
    assert "init.kaiming_normal_(m.weight, generator=g)\ninit.normal_(m.bias)\n" in kaiming
    assert "init.normal_(m.weight, 0, 0.3, generator=g)\ninit.normal_(m.bias)\n" in smaller
    assert "noise.normal_(0, 3)\n" in smaller and "p.data.normal_(0, 0.5)\n" in smaller


def test_a_rate_that_is_written_in_another_base(tmp_path):
    lines = "opt = torch.optim.SGD(m.parameters(), lr=0x10)\nloss = «m(x)»\n"
    assert "lr=1.6)" in body(tmp_path, lines, "learning_rate_divergence")


def test_optimizers(tmp_path):
    lines = "opt = torch.optim.Adam(p, lr=0.1, eps=0.0)\n«opt.step()»"
    library = "/site-packages/torch/optim/adam.py"
    found = body(tmp_path, lines, "optimizer_division_by_zero", library=library)
    assert found.startswith("opt = torch.optim.Adam(p, lr=0.1, eps=1e-8)\n")


# -------------------------------------------------------------------------- inside a library
LIBRARY = """\
import torch

class Scored:
    def __init__(self, scale, shift=0.0):
        self.scale = scale

    def log_prob(self, value):
        return value / self.scale

def entropy(p, weight=None, *, eps=0.0):
    logs = torch.log(p + eps)
    return -(p * logs).sum()

def angle(a, b):
    cosine = a @ b
    return torch.acos(cosine)
"""


def in_library(folder, line: str, code: str, cause: str, *inputs: dict, **more):
    """A fault at `code` of the library, called by the marked expression."""
    path = folder / "library.py"
    path.write_text(LIBRARY)
    text = LIBRARY[: LIBRARY.index(code)]
    column = len(text) - text.rindex("\n") - 1
    case = case_of(folder, HEAD + line, cause, *inputs, library=str(path), **more)
    case.origin["library_site"] |= {
        "line": text.count("\n") + 1, "end_line": text.count("\n") + 1, "code": code,
        "col": column, "end_col": column + len(code),
    }  # fmt: skip
    return case


def test_what_a_library_is_given(tmp_path):
    case = in_library(tmp_path, "h = «entropy(q, eps=0.1)»", "torch.log(p + eps)", "log_of_zero")
    assert propose.first(case) is None  # the guard is given already
    case = in_library(tmp_path, "h = «lib.entropy(q)»", "torch.log(p + eps)", "log_of_zero")
    assert patched(case, propose.first(case)) == HEAD + "h = lib.entropy(q, eps=1e-8)"
    lines = "d = Scored(net(x), 1)\nl = «d.log_prob(y)».mean()"
    case = in_library(tmp_path, lines, "value / self.scale", "division_by_zero", SIZES)
    assert patched(case, propose.first(case)).removeprefix(HEAD) == (
        "d = Scored(net(x).clamp(min=1e-8), 1)\nl = d.log_prob(y).mean()"
    )


def test_a_library_that_cannot_be_helped_is_named(tmp_path):
    line = "t = «lib.angle(u, v)»"
    case = in_library(tmp_path, line, "torch.acos(cosine)", "inverse_trig_domain")
    assert propose.first(case) is None
    told = propose.advice(case)
    assert f"{tmp_path}/library.py:16, in `torch.acos(cosine)`" in told
    assert "arguments with which `cosine` is inside -1 and 1" in told


def test_an_operator_is_not_inside_a_library(tmp_path):
    case = case_of(tmp_path, HEAD + "y = «x ** 2»", "float_overflow", library="torch/_tensor.py")
    assert "library" not in propose.advice(case)


# -------------------------------------------------------------------------- order, and no patch
def test_what_hides_the_fault_comes_last_and_is_called_so(tmp_path):
    case = case_of(tmp_path, HEAD + "y = «torch.log(p)»", "log_of_zero")
    found = propose.candidates(case)
    assert not found[0].workaround
    assert [c.id for c in found if c.workaround] == ["replace_not_finite"]
    assert found[-1].workaround


def test_a_statement_has_no_value_to_replace(tmp_path):
    case = case_of(tmp_path, HEAD + "«opt.step()»\n", "float_overflow", step=0)
    assert "replace_not_finite" not in [c.id for c in propose.candidates(case)]


def test_text_that_is_not_what_ran_is_not_patched(tmp_path):
    case = case_of(tmp_path, HEAD + "y = «torch.log(p)»", "log_of_zero")
    (tmp_path / "train.py").write_text(HEAD + "y = torch.log(q)")
    assert propose.candidates(case) == []
    assert "train.py:3 is not the text that ran" in propose.advice(case)


def test_every_candidate_is_python(tmp_path):
    marked = HEAD + "y = [«torch.log(p)» for p in q if (k := p) is not None]\n"
    for text in proposals(tmp_path, marked, "log_of_zero").values():
        compile(text, "train.py", "exec")
