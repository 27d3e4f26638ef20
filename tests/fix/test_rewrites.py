"""Each rewrite on source as people write it. Nothing is run: text in, text out."""

from __future__ import annotations

import pytest
from proposing import case_of, first, patched, proposals, tensor

from nanscope.fix import instrument, propose

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
    assert found == "y = a / (b - c).masked_fill((b - c) == 0, 1e-9)"


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


def test_inverse_trigonometry(tmp_path):
    line = "a = «torch.acos(c)»"
    assert body(tmp_path, line, "inverse_trig_domain") == "a = torch.acos(c.clamp(-1.0, 1.0))"
    inside = body(tmp_path, line, "inverse_trig_domain", phase="backward")
    assert inside == "a = torch.acos(c.clamp(-1 + 1e-7, 1 - 1e-7))"
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
    assert body(tmp_path, "h = «a + b»", "half_overflow", half) == (
        "h = (a.float() + b.float()).clamp(-65504.0, 65504.0).to(torch.float16)"
    )
    assert body(tmp_path, "n = «m.half()»", "half_overflow", tensor()) == "n = m"
    assert body(tmp_path, "i = «(v + 1e-12).pow(-0.5)»", "eps_underflow", half) == (
        "i = (v + 1e-7).pow(-0.5)"
    )


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


def test_optimizers(tmp_path):
    lines = "opt = torch.optim.Adam(p, lr=0.1, eps=0.0)\n«opt.step()»"
    library = "/site-packages/torch/optim/adam.py"
    found = body(tmp_path, lines, "optimizer_division_by_zero", library=library)
    assert found.startswith("opt = torch.optim.Adam(p, lr=0.1, eps=1e-8)\n")


# -------------------------------------------------------------------------- order, and no patch
def test_what_hides_the_fault_comes_last_and_is_called_so(tmp_path):
    case = case_of(tmp_path, HEAD + "y = «torch.log(p)»", "log_of_zero")
    found = propose.candidates(case)
    assert not found[0].workaround
    assert [c.id for c in found if c.workaround] == ["replace_not_finite"]
    assert found[-1].workaround


def test_text_that_is_not_what_ran_is_not_patched(tmp_path):
    case = case_of(tmp_path, HEAD + "y = «torch.log(p)»", "log_of_zero")
    (tmp_path / "train.py").write_text(HEAD + "y = torch.log(q)")
    assert propose.candidates(case) == []


def test_every_candidate_is_python(tmp_path):
    marked = HEAD + "y = [«torch.log(p)» for p in q if (k := p) is not None]\n"
    for text in proposals(tmp_path, marked, "log_of_zero").values():
        compile(text, "train.py", "exec")
