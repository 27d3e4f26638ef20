"""Verified means exercised: healthy values are made where none went through the patch."""

from __future__ import annotations

import math

import pytest
import torch
from proposing import case_of, patched, tensor

from nanscope.fix.patch import instrument, propose, trial
from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.run.messages import Place
from nanscope.fix.run.probe import Probe
from nanscope.fix.run.verify import judge_values


def seen(original, patch, *values) -> Place:
    probe = Probe(False, False)
    probe.compare(0, original, patch, patch, *values)
    return probe.place(0)


def judged(original, patch, *values, **candidate):
    place = seen(original, patch, *values)
    assert place.fault == ""
    return judge_values(None, Candidate("tried", "", [], **candidate), place)


def divided(x, t):
    return x / t


# -------------------------------------------------------------------------- values that are made
def test_a_number_that_one_could_pass_is_not_changed():
    logits = torch.tensor([1.0, 2.0])
    problem = judged(divided, lambda x, t: x / max(t, 1), logits, 0.0)
    assert problem.status == "failed" and "another number" in problem.detail
    assert judged(divided, lambda x, t: x / max(t, 1e-5), logits, 0.0) is None
    # Of whole numbers none is between 0 and 1.
    assert judged(divided, lambda x, n: x / max(n, 1), logits, 0) is None


def test_no_healthy_value_and_none_can_be_made():
    def never(x):
        return x * math.nan

    problem = judged(never, lambda x: x * 0, torch.ones(3))
    assert problem.status == "not_exercised"


def test_made_values_show_what_a_patch_does_to_the_rest():
    failing = torch.zeros(3)
    assert judged(torch.log, lambda p: torch.log(p.clamp(min=1e-8)), failing) is None
    problem = judged(torch.log, lambda p: torch.log(p + 0.5), failing)
    assert problem.status == "failed" and "a healthy value that it could be given" in problem.detail


def test_slopes_of_made_values_count_too():
    def patch(x):
        return torch.sqrt(x.clamp(min=1e-12)).detach() + 0 * x

    problem = judged(lambda x: torch.sqrt(x), patch, torch.zeros(3, requires_grad=True))
    assert problem.status == "failed" and "slope" in problem.detail


# -------------------------------------------------------------------------- what was mended
def test_a_value_that_float64_knows():
    x = torch.tensor([1015.11, 1015.10, 1015.09, 1015.11])

    def by_hand(x):
        return torch.sqrt((x * x).mean() - x.mean() ** 2)

    assert not bool(torch.isfinite(by_hand(x)))
    problem = judged(by_hand, lambda x: torch.sqrt((by_hand(x) ** 2).clamp(min=1e-8)), x)
    assert problem.status == "failed"
    clamped = judged(
        by_hand, lambda x: torch.sqrt(((x * x).mean() - x.mean() ** 2).clamp(min=1e-8)), x
    )
    assert clamped.status == "failed" and "in float64" in clamped.detail
    assert judged(by_hand, lambda x: x.std(correction=0), x) is None


def test_a_limit():
    snr = torch.tensor([0.0, 0.5, 7.0])

    def weight(snr):
        return snr.clamp(max=5.0) / snr

    problem = judged(weight, lambda s: s.clamp(max=5.0) / s.clamp(min=1e-8), snr)
    assert problem.status == "failed" and "comes to 1" in problem.detail
    assert judged(weight, lambda s: 5.0 / s.clamp(min=5.0), snr) is None


@pytest.mark.parametrize("rows", [torch.zeros(1), torch.zeros(3), torch.tensor([[0.0], [2.0]])])
def test_no_limit_where_each_side_has_another(rows):
    def unit(x):
        return x / x.norm(dim=-1, keepdim=True)

    def patch(x):
        norm = x.norm(dim=-1, keepdim=True)
        return x / norm.masked_fill(norm == 0, 1.0)

    assert judged(unit, patch, rows) is None


@pytest.mark.parametrize(("step", "is_count"), [(1.0, True), (0.5, False)])
def test_a_count_is_seen_to_be_one(step, is_count):
    probe = Probe(False, False)
    guarded = Candidate("tried", "", [], count="n")
    for n in torch.arange(0, 3, step):
        given = torch.ones(2), probe.counted(0, n)
        probe.compare(0, divided, lambda x, n: x / n.clamp(min=1e-4), divided, *given)
    problem = judge_values(None, guarded, probe.place(0))
    assert ("was not seen to be a count" in problem.detail) is not is_count


def test_an_outlier():
    x, n = torch.ones(3), torch.tensor([4.0, 0.0, 2.0])
    problem = judged(divided, lambda x, n: x / n.clamp(min=1e-8), x, n)
    assert problem.status == "failed" and "healthy values are 5.0e-01 at most" in problem.detail
    assert judged(divided, lambda x, n: x / n.clamp(min=1), x, n) is None


def test_a_slope_that_stands_out():
    x, n = torch.zeros(3, requires_grad=True), torch.tensor([4.0, 0.0, 2.0])
    problem = judged(divided, lambda x, n: x / n.clamp(min=1e-8), x, n)
    assert problem.status == "failed" and "slope" in problem.detail
    assert judged(divided, lambda x, n: x / n.masked_fill(n == 0, 1.0), x, n) is None


def test_what_a_patch_claims_to_change():
    x = torch.rand(2, 5)

    def unbiased(x):
        return torch.cat([x.std(dim=1), x[:1].std(dim=0)])

    def biased(x):
        return torch.cat([x.std(dim=1, correction=0), x[:1].std(dim=0, correction=0)])

    assert judged(unbiased, biased, x).status == "failed"
    assert judged(unbiased, biased, x, alters="n is divided by, not n - 1") is None


# -------------------------------------------------------------------------- before any run
LOGARITHM = "import torch\ny = «torch.log(p)»\n"


def found(folder, marked: str, cause: str, *facts, **more) -> list[str]:
    case = case_of(folder, marked, cause, *facts, **more)
    return [patched(case, c).splitlines()[1] for c in propose.candidates(case)]


def test_a_count_under_a_logarithm(tmp_path):
    counts = tensor(name="p", at_index=[0.0], healthy=[1.0, 3.0, 7.0])
    assert found(tmp_path, LOGARITHM, "log_of_zero", counts)[0] == "y = torch.log(p.clamp(min=1))"
    sizes = tensor(name="p", at_index=[0.0], healthy=[0.25, 0.5])
    first = found(tmp_path, LOGARITHM, "log_of_zero", sizes)[0]
    assert first == "y = torch.log(p.clamp(min=1e-8))"


def test_what_is_trained_counts_nothing(tmp_path):
    trained = tensor(name="p", at_index=[0.0], healthy=[1.0, 3.0, 7.0], requires_grad=True)
    assert "clamp(min=1)" not in str(found(tmp_path, LOGARITHM, "log_of_zero", trained))


def test_a_trained_number_is_not_seen_to_be_a_count():
    probe = Probe(widens=False, second_order=False)
    for n in (1.0, 3.0):
        probe.counted(0, torch.tensor([n], requires_grad=True))
    assert probe.place(0).fractional


def test_no_bound_where_values_underflow(tmp_path):
    tiny = tensor(name="p", at_index=[0.0], healthy=[1e-37, 1e-20, 0.5])
    lines = found(tmp_path, LOGARITHM, "log_of_zero", tiny)
    assert not any("clamp" in line for line in lines)


def test_the_weight_of_an_absent_class(tmp_path):
    one = tensor(name="a", at_index=[1.0], healthy=[1.0, 2.0], zeros=0)
    sizes = tensor("other", name="v", at_index=[0.0], healthy=[0.3, 2.5, 4.0])
    lines = found(tmp_path, "import torch\ny = «a / v»\n", "division_by_zero", one, sizes)
    assert lines[0] == "y = (a / v).masked_fill(v == 0, 0.0)"
    assert "y = a / v.clamp(min=1e-8)" not in lines  # 1e8 beside 7


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        ("torch.log(p.clamp(min=1e-8))", ""),
        ("torch.log(p + 0.5)", "changed"),
        ("torch.log(p.clump(min=1))", "raises AttributeError"),
        ("torch.log(p.clamp(max=1.0))", "not finite either"),
    ],
)
def test_a_proposal_is_tried_on_the_elements_that_are_kept(tmp_path, new, reason):
    facts = tensor(name="p", at_index=[0.0], healthy=[0.25, 0.5])
    case = case_of(tmp_path, LOGARITHM, "log_of_zero", facts)
    candidate = Candidate("tried", "", [case.source.edit(case.node, new)])
    assert reason in trial.problem(case, candidate)
    assert bool(reason) == bool(trial.problem(case, candidate))


# -------------------------------------------------------------------------- rewrites
SETTINGS = {
    'CFG = {"lr": 1e-3, "eps": 0.0}\n': "Adam([w], **CFG)",
    "def make(w, eps=0.0):\n    pass\n": "Adam([w], eps=eps)",
    'parser.add_argument("--adam-eps", default=0.0)\n': "Adam([w], eps=args.adam_eps)",
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_eps_of_an_optimizer_where_it_is_set(tmp_path, setting):
    text = f"import torch\n{setting}opt = torch.optim.{SETTINGS[setting]}\n«opt.step()»\n"
    case = case_of(tmp_path, text, "optimizer_division_by_zero", library="torch/optim/adam.py")
    best = propose.candidates(case)[0]
    plain = text.replace("«", "").replace("»", "")
    assert patched(case, best) == plain.replace("0.0", "1e-8")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("s = «torch.sqrt((x * x).mean() - x.mean() ** 2)»", "s = x.std(correction=0)"),
        (
            "m = x.mean(1, keepdim=True)\n"
            "v = (x**2).mean(1, keepdim=True) - m * m\n"
            "s = «torch.sqrt(v + 1e-5)»\n",
            "m = x.mean(1, keepdim=True)\n"
            "v = x.var(dim=1, correction=0, keepdim=True)\n"
            "s = torch.sqrt(v + 1e-5)\n",
        ),
        (
            "m = x.sum() / n\nv = x.square().sum() / n - m.square()\ns = «v.sqrt()»\n",
            "m = x.sum() / n\nv = x.square().sum() / n - m.square()\ns = x.std(correction=0)\n",
        ),
    ],
)
@pytest.mark.parametrize("cause", ["sqrt_of_negative", "cancellation"])
def test_a_variance_by_hand(tmp_path, before, after, cause):
    case = case_of(tmp_path, "import torch\n" + before, cause, tensor(at_index=[-0.5], negatives=1))
    assert patched(case, propose.candidates(case)[0]) == "import torch\n" + after


def test_a_tanh_by_hand(tmp_path):
    text = (
        "import torch\ndef backward(ctx, g):\n    (r,) = ctx.saved_tensors\n"
        "    up, down = torch.exp(r), «torch.exp(-r)»\n"
        "    return g * (up - down) / (up + down)\n"
    )
    case = case_of(tmp_path, text, "exp_overflow", tensor(max=100.0, at_index=[100.0]))
    best = propose.candidates(case)[0]
    assert patched(case, best) == (
        "import torch\ndef backward(ctx, g):\n    (r,) = ctx.saved_tensors\n"
        "    return g * torch.tanh(r)\n"
    )


def test_the_bound_of_a_quotient(tmp_path):
    line = "import torch\nw = «snr.clamp(max=g) / snr»\n"
    divisor = tensor("other", name="snr", at_index=[0.0], healthy=[0.5, 7.0])
    above = tensor(name="snr.clamp(max=g)", at_index=[0.0], healthy=[0.5, 5.0])
    assert found(tmp_path, line, "division_by_zero", above, divisor)[0] == (
        "w = g / snr.clamp(min=g)"
    )


def test_a_sum_that_may_count(tmp_path):
    line = "import torch\ny = «x / mask.sum()»\n"
    divisor = tensor("other", name="mask.sum()", shape=[], at_index=[0.0], min=0.0, max=0.0, mean=0)
    case = case_of(tmp_path, line, "division_by_zero", divisor)
    best = propose.candidates(case)[0]
    assert patched(case, best).endswith("y = x / mask.sum().clamp(min=1)\n")
    assert best.count == "mask.sum()"


def test_a_count_behind_a_name_is_seen_to_be_one(tmp_path):
    """The operands are measured with what their names were given in their places."""
    text = "import torch\ndef f(x, a):\n    m = a.abs() * 2\n    return «x / m.sum(1)»\n"
    divisor = tensor("other", name="m.sum(1)", at_index=[0.0], healthy=[1.0, 3.0, 7.0])
    case = case_of(tmp_path, text, "division_by_zero", divisor)
    best = next(c for c in propose.candidates(case) if c.count)
    (source,) = instrument.measuring(case, best).values()
    assert "__nanscope__.counted(0, (a.abs() * 2).sum(1))" in source.text


@pytest.mark.parametrize(
    ("mask", "counts"),
    [("1 - torch.eye(n)", True), ("1 - (x > 0).float()", True), ("1 - torch.rand(n)", False)],
)
def test_what_a_mask_leaves_counts(tmp_path, mask, counts):
    text = f"import torch\ndef f(x, n):\n    rest = {mask}\n    return «x / rest.sum(1)»\n"
    divisor = tensor("other", name="rest.sum(1)", at_index=[0.0], healthy=[1.0, 3.0, 7.0])
    case = case_of(tmp_path, text, "division_by_zero", divisor)
    best = next(c for c in propose.candidates(case) if "clamp(min=1)" in patched(case, c))
    assert (best.count == "") is counts


def test_the_logarithm_of_an_exponential(tmp_path):
    text = "import torch\np = torch.exp(-0.5 * z * z)\nloss = -«torch.log(p)».sum()\n"
    case = case_of(tmp_path, text, "log_of_zero")
    assert "loss = -(-0.5 * z * z).sum()" in patched(case, propose.candidates(case)[0])


def test_the_angle_of_a_ratio(tmp_path):
    line = "import torch\nv = torch.atan(«w / h»)\n"
    sides = tensor(name="w", at_index=[0.0], healthy=[0.2, 0.5])
    height = tensor("other", name="h", at_index=[0.0], healthy=[0.25, 0.5])
    assert found(tmp_path, line, "division_by_zero", sides, height)[0] == "v = torch.atan2(w, h)"
