"""A fault behind the one that is patched: known for another, and told in the program's words."""

from __future__ import annotations

from dataclasses import replace

import pytest
from proposing import HEAD, case_of, proposals, tensor

from nanscope.fix.patch import instrument, propose
from nanscope.fix.patch.source_file import Edit, SourceFile
from nanscope.fix.run.verify import _is_measured, _Judge, _place_of
from nanscope.fix.verb.search import _elsewhere

CALL = "__nanscope__.compare(0, lambda _common0: _common0 / 2, lambda _common0: 1, p)"


@pytest.mark.parametrize(
    ("code", "measured"),
    [
        ("_common0 / _common1.clamp(min=1e-8)", True),
        (CALL, True),
        (f"torch.log({CALL})", False),
        (f"{CALL} * p", False),
        ("torch.log(x)", False),
    ],
)
def test_what_is_computed_of_the_patched_expression_is_not_it(code, measured):
    assert _is_measured(code) is measured


RATIO = "y = (p * «torch.log(p / q)»).sum()"


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("y = (p * torch.log(«p / q»)).sum()", "division_by_zero"),
        (RATIO, "log_of_zero"),
        ("y = (p * («p / q»).log()).sum()", "division_by_zero"),
    ],
)
def test_a_divergence_by_hand(tmp_path, line, cause):
    found = proposals(tmp_path, HEAD + line, cause, tensor(), tensor("other", mean=0.3))
    ratio = "p.masked_fill(p == 0, 1.0) / q.masked_fill(p == 0, 1.0)"
    assert next(iter(found)) == "one_for_zero"
    assert ratio in found["one_for_zero"]


def test_another_weight_is_no_divergence(tmp_path):
    line = RATIO.replace("(p * ", "(w * ")
    found = proposals(tmp_path, HEAD + line, "log_of_zero", tensor(), tensor("other"))
    assert "one_for_zero" not in found


def test_kl_div_of_masked_logarithms(tmp_path):
    """The op inside multiplies the target by the logarithm: its operands are not the call's."""
    target = tensor("self", name="", at_index=[0.0], healthy=[0.2, 0.8])
    logarithm = tensor("other", name="", at_index=[-float("inf")], healthy=[-1.6, -0.2])
    line = 'y = «F.kl_div(logp, p, reduction="batchmean")»'
    found = proposals(tmp_path, HEAD + line, "zero_times_inf", target, logarithm)
    assert "F.kl_div(logp.clamp(min=-1e4), p" in found["finite_logarithm"]
    assert next(iter(found)) == "finite_logarithm"


TWINS = "y = (p * «torch.log(p)»).mean() + (0.1 * torch.log(p)).mean()"


@pytest.mark.parametrize(("begin", "elsewhere"), [("torch.log(p)", True), ("__nanscope__", False)])
def test_an_expression_of_the_same_text_is_another(tmp_path, begin, elsewhere):
    """Told by its column, which the patch has shifted."""
    case = case_of(tmp_path, HEAD + TWINS, "log_of_zero")
    measuring = instrument.measuring(case, propose.candidates(case)[0])
    (source,) = measuring.values()
    line = source.text.splitlines()[-1]
    site = replace(case.origin.site, col=line.rindex(begin))
    error = replace(case.finding, origin=replace(case.origin, site=site))
    assert _elsewhere(case, measuring)(error) is elsewhere
    assert not _elsewhere(case, {})(case.finding)
    judge = _Judge(case.finding, None, None, None, None, [], _elsewhere(case, measuring))
    assert judge._is_same(error) is not elsewhere


def test_a_place_is_known_in_the_version_before():
    before = SourceFile("t.py", b"a = f(x) + f(x)\n")
    after = before.with_edits([Edit("t.py", 4, 8, "guarded(x)"), Edit("t.py", 0, 0, "import f; ")])
    assert after.text == "import f; a = guarded(x) + f(x)\n"
    assert after.place_before(after.text.index("f(x)")) == 11
    assert after.place_before(after.text.index("guarded")) is None
    assert after.place_before(after.text.index("a =")) == 0


@pytest.mark.parametrize(("phase", "said"), [("forward", "log_of_zero"), ("backward", "gradient")])
def test_a_fault_in_the_gradient_is_told_as_one(tmp_path, phase, said):
    case = case_of(tmp_path, HEAD + RATIO, "log_of_zero", phase=phase)
    cause = replace(case.finding.cause, sentence=f"`{CALL}` is 0")
    assert _place_of(replace(case.finding, cause=cause)).endswith(said)
