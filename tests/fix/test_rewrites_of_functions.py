"""Roots, powers, exponentials, angles, masks and reductions: text in, text out."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from proposing import HEAD, body, case_of, patched, proposals, tensor

from nanscope.findings import Link
from nanscope.fix.patch import propose
from nanscope.fix.patch.case import Case
from nanscope.fix.rewrites import trigonometry


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
    saved = tensor("saved result", saved="result")
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
    assert found == (
        "empty = s.isneginf().all(dim=-1, keepdim=True)\n"
        "p = s.masked_fill(empty, 0.0).softmax(-1).masked_fill(empty, 0.0)"
    )
    found = body(tmp_path, "z = «torch.logsumexp(a + e, dim=0)»", "inf_minus_inf")
    assert found == (
        "z = torch.logsumexp((a + e).clamp(min=torch.finfo(torch.float32).min), dim=0)"
    )


def test_zero_times_infinity(tmp_path):
    assert body(tmp_path, "h = «p * torch.log(p)»", "zero_times_inf") == "h = torch.xlogy(p, p)"
    mask = tensor("other", at_index=[0.0])
    found = body(tmp_path, "h = «x * mask»", "zero_times_inf", mask)
    assert found == "h = x.masked_fill(mask == 0, 0.0) * mask"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("h = -(«x * mask»).sum()", "h = -(x.masked_fill(mask == 0, 0.0) * mask).sum()"),
        ("h = («x * mask»)", "h = x.masked_fill(mask == 0, 0.0) * mask"),
        ("h = 2 - («x * mask»)", "h = 2 - x.masked_fill(mask == 0, 0.0) * mask"),
        ("h = a / («x * mask»)", "h = a / (x.masked_fill(mask == 0, 0.0) * mask)"),
    ],
)
def test_brackets_stay_where_something_binds_tighter(tmp_path, before, after):
    """Without them the patch would mean something else, and each part of it would look right."""
    mask = tensor("other", at_index=[0.0])
    assert body(tmp_path, before, "zero_times_inf", mask) == after


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


# -------------------------------------------------------------------------- special functions
def test_the_edge_of_an_inverse_distribution(tmp_path):
    at_one = tensor(max=1.0, at_index=[1.0])
    found = body(tmp_path, "z = «torch.erfinv(2 * u - 1)»", "special_function_domain", at_one)
    assert found == "z = torch.erfinv((2 * u - 1).clamp(-1 + 1e-7, 1 - 1e-7))"
    found = body(tmp_path, "z = «torch.special.ndtri(u)»", "special_function_domain", at_one)
    assert found == "z = torch.special.ndtri(u.clamp(1e-7, 1 - 1e-7))"


def test_a_pole_of_lgamma_is_not_bounded_away(tmp_path):
    found = proposals(tmp_path, HEAD + "y = «torch.lgamma(a)»", "special_function_domain")
    assert set(found) <= {"replace_not_finite"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = c + torch.log(«torch.special.i0(k)»)",
         "y = c + (torch.log(torch.special.i0e(k)) + k.abs())"),
        ("r = «torch.special.i1(k)» / torch.special.i0(k)",
         "r = torch.special.i1e(k) / torch.special.i0e(k)"),
    ],
)  # fmt: skip
def test_a_bessel_function_that_overflows(tmp_path, before, after):
    assert body(tmp_path, before, "exp_overflow", tensor(max=90.0, at_index=[90.0])) == after


def test_an_exponential_of_a_logarithm_is_not_fixed_by_a_bound(tmp_path):
    case = case_of(tmp_path, HEAD + "g = «torch.exp(torch.lgamma(n))»", "exp_overflow", tensor())
    bounds = [c for c in propose.candidates(case) if c.id == "clamp_before_exp"]
    assert bounds
    assert all(candidate.workaround for candidate in bounds)
    free = case_of(tmp_path, HEAD + "s = «torch.exp(logvar)»", "exp_overflow", tensor())
    assert not propose.candidates(free)[0].workaround


# ------------------------------------------------------------------- what only hides the fault
@pytest.mark.parametrize("weight", [True, False])
def test_a_bound_below_a_weight_that_went_beyond_it(tmp_path, weight):
    facts = tensor(negatives=1, at_index=[-0.03], parameter=weight)
    case = case_of(tmp_path, HEAD + "y = «torch.log(sigma)»", "log_of_negative", facts)
    best = propose.candidates(case)[0]
    assert (best.id, best.workaround) == ("clamp_before_log", weight)


@pytest.mark.parametrize("zeros", [4, 1])
def test_a_guard_where_every_divisor_is_zero(tmp_path, zeros):
    facts = tensor("other", mean=0.4, zeros=zeros), tensor(at_index=[0.5], zeros=0)
    case = case_of(tmp_path, HEAD + "y = «r / s»", "division_by_zero", *facts)
    assert propose.candidates(case)[0].workaround is (zeros == 4)


def test_what_is_complex_is_not_clamped(tmp_path):
    facts = tensor(dtype="complex64", min=None, max=None, mean=None, at_index=[0j])
    found = proposals(tmp_path, HEAD + "y = «z ** 0.5»", "pow_domain", facts)
    assert not any("clamp" in text for text in found.values())


CONSTANT = 'NONE = float("-inf")\n'


@pytest.mark.parametrize(
    ("head", "fixed"),
    [
        (CONSTANT, "t = x.masked_fill(bad, -1e4)\n"),
        (CONSTANT + "NONE = 0.0\n", None),  # it is not known which
        ("NONE = -100.0\n", None),
    ],
)
def test_the_number_of_a_mask_behind_a_name(tmp_path, head, fixed):
    """A floor of the sum would stand out from its healthy results: the mask is mended."""
    text = HEAD + head + "t = x.masked_fill(bad, NONE)\nz = «torch.logsumexp(t, dim=1)»\n"
    low = tensor(name="t", at_index=[-math.inf], healthy=[9.0, 11.0])
    case = case_of(tmp_path, text, "inf_minus_inf", low, phase="backward")
    line = 3 + head.count("\n")
    mask = {"col": 4, "end_col": 28, "code": "x.masked_fill(bad, NONE)"}
    site = replace(case.origin.site, line=line, end_line=line, **mask)
    chain = [Link("aten::masked_fill", site, "forward", "declared", None)]
    case = Case(replace(case.finding, chain=chain), {}, case.folder)
    best = propose.first(case)
    assert (best and patched(case, best).splitlines(True)[line - 1]) == fixed
