"""Data, settings of the training, and calls into libraries: text in, text out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from proposing import HEAD, SIZES, body, case_of, patched, proposals, tensor

from nanscope.findings import Maker, OtherCause, Scalar, Site, TensorFacts
from nanscope.fix.patch import propose


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
    others = [OtherCause("exp_overflow", "true, and only how", shows=True)]
    case.finding = replace(case.finding, cause=replace(case.finding.cause, others=others))
    found = [c.id for c in propose.candidates(case)]
    assert found.index("clamp_before_exp") > found.index("lower_learning_rate")


def test_the_rate_of_an_inner_update(tmp_path):
    lines = (
        "def adapt(params, grads, inner_lr=0.02):\n"
        "    return [p - inner_lr * g for p, g in zip(params, grads)]\n" + TRAIN
    )
    case = case_of(tmp_path, HEAD + lines, "learning_rate_divergence")
    at = Site("train.py", 4, 4, 12, 28, "p - inner_lr * g", "adapt")
    case.finding = replace(case.finding, makers=[Maker("SubBackward0", at, 0, [], [])])
    found = propose.candidates(case)[0]
    assert "inner_lr=0.002):" in patched(case, found)


def test_another_rate_only_where_growth_was_measured(tmp_path):
    case = case_of(tmp_path, HEAD + TRAIN, "empty_reduction")
    others = [OtherCause("float_overflow", "true, and only how", shows=True)]
    case.finding = replace(case.finding, cause=replace(case.finding.cause, others=others))
    assert not [c for c in propose.candidates(case) if c.changes_training]


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


def in_library(folder, line: str, code: str, cause: str, *inputs: TensorFacts, **more):
    """A fault at `code` of the library, called by the marked expression."""
    path = folder / "library.py"
    path.write_text(LIBRARY)
    text = LIBRARY[: LIBRARY.index(code)]
    column = len(text) - text.rindex("\n") - 1
    case = case_of(folder, HEAD + line, cause, *inputs, library=str(path), **more)
    line_number = text.count("\n") + 1
    inside = Site(str(path), line_number, line_number, column, column + len(code), code, "")
    case.finding = replace(case.finding, origin=replace(case.origin, library_site=inside))
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
    advice = propose.advice(case)
    assert f"{tmp_path}/library.py:16, in `torch.acos(cosine)`" in advice
    assert "arguments with which `cosine` is inside -1 and 1" in advice


def test_an_operator_is_not_inside_a_library(tmp_path):
    case = case_of(tmp_path, HEAD + "y = «x ** 2»", "float_overflow", library="torch/_tensor.py")
    assert "library" not in propose.advice(case)


BIAS = """import torch
def update(p, m, v, b1, b2, t):
    m_hat = «m / (1 - b1 ** t)»
    v_hat = v / (1 - b2 ** t)
    return p - m_hat / v_hat.sqrt()
"""


def test_a_step_that_is_counted_too_late(tmp_path):
    case = case_of(tmp_path, BIAS, "division_by_zero", tensor("self"), phase="optimizer")
    case.finding.scalars.append(Scalar("other", "0.0"))
    best = propose.candidates(case)[0]
    assert best.changes_training
    expected = BIAS.replace("«", "").replace("»", "").replace("** t)", "** (t + 1))")
    assert patched(case, best) == expected


def test_a_step_that_is_counted_too_late_in_a_tensor(tmp_path):
    text = BIAS.replace("m / (1 - b1 ** t)", "m / torch.tensor(1 - b1 ** t)")
    inputs = tensor("self"), tensor("other", at_index=[0.0], shape=[])
    case = case_of(tmp_path, text, "division_by_zero", *inputs, phase="optimizer")
    best = propose.candidates(case)[0]
    expected = text.replace("«", "").replace("»", "").replace("** t)", "** (t + 1))")
    assert patched(case, best) == expected


def test_another_number_that_is_0_is_no_step(tmp_path):
    text = BIAS.replace("1 - b1 ** t", "b1 - b2 ** t")
    case = case_of(tmp_path, text, "division_by_zero", tensor("self"), phase="optimizer")
    case.finding.scalars.append(Scalar("other", "0.0"))
    assert all(c.id != "count_the_step_first" for c in propose.candidates(case))


LOADED = """import numpy as np
import torch
def load(path):
    table = np.genfromtxt(path, delimiter=",")  # as exported
    return torch.from_numpy(table)
for x, y in «loader»:
    loss = f(x, y)
"""


def imported_case(folder, text):
    case = case_of(folder, text, "bad_input_data", tensor(name="tensors", nan=1))
    origin = replace(case.finding.origin, kind="imported")
    return replace(case, finding=replace(case.finding, origin=origin))


def test_rows_are_left_out_where_they_are_read(tmp_path):
    found = propose.candidates(case := imported_case(tmp_path, LOADED))
    line = (
        "    table = table[np.isfinite(table).all(axis=1)]  # leave out rows that are not finite\n"
    )
    assert patched(case, found[0]).split("# as exported\n")[1].startswith(line)
    assert any("    keep = x.isfinite()" in patched(case, c) for c in found if c.fires)
    assert not any("loader.nan_to_num" in patched(case, c) for c in found)


def test_two_readers_leave_it_open_which_it_was(tmp_path):
    text = LOADED.replace("def load", 'other = np.loadtxt("b.txt")\ndef load')
    case = imported_case(tmp_path, text)
    assert all(c.id != "leave_out_rows" for c in propose.candidates(case))
