"""Functions that torch has, written by hand: the stable one comes before a bound."""

from __future__ import annotations

from dataclasses import replace

import pytest
from proposing import HEAD, body, case_of, proposals, tensor

from nanscope.fix.patch import trial
from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.case import Case

LARGE = {"zeros": 0, "at_index": [200.0], "healthy": [0.1, 0.5]}
NAMED = "(difference := net(x) - y).abs() + F.softplus(-2 * difference.abs()) - 0.6931471805599453"
LOG_COSH = "x.abs() + F.softplus(-2 * x.abs()) - 0.6931471805599453"


@pytest.mark.parametrize(
    ("line", "fixed"),
    [
        ("p = 1 / (1 + «torch.exp(-net(x))»)\n", "p = torch.sigmoid(net(x))\n"),
        ("p = 1.0 / («(-x).exp()» + 1)\n", "p = torch.sigmoid(x)\n"),
        ("p = (1 + «torch.exp(x - 2)»).reciprocal()\n", "p = torch.sigmoid(-(x - 2))\n"),
        ("p = x / (1 + «torch.exp(-x)»)\n", "p = x * torch.sigmoid(x)\n"),
        ("def f(x):\n    e = «x.exp()»\n    return e / (1 + e)\n",
         "def f(x):\n    return torch.sigmoid(x)\n"),
        ("def f(x):\n    return «torch.sinh(x)» / torch.cosh(x)\n",
         "def f(x):\n    return torch.tanh(x)\n"),
        ("y = torch.log(«torch.cosh(x)»)\n", f"y = {LOG_COSH}\n"),
        ("y = 2 * torch.log(«torch.cosh(x)»)\n", f"y = 2 * ({LOG_COSH})\n"),
        ("y = «torch.cosh(net(x) - y)».log()\n", f"y = {NAMED}\n"),
    ],
)  # fmt: skip
def test_the_function_of_torch_comes_first(tmp_path, line, fixed):
    assert body(tmp_path, line, "exp_overflow", tensor(name="", **LARGE)) == fixed


@pytest.mark.parametrize(
    "line",
    [
        "y = 1 / (2 + «torch.exp(-x)»)",
        "y = 1 / (torch.exp(x) + «torch.exp(-x)»)",
        "y = torch.div(1, 1 + «torch.exp(-x)», rounding_mode='floor')",
        "y = torch.log(«torch.cosh(x)» + 1)",
        "y = «torch.sinh(x)» / torch.cosh(y)",
        "y = torch.exp(net(x)) / (1 + «torch.exp(net(x))»)",  # the net is called twice
    ],
)
def test_another_function_is_left_alone(tmp_path, line):
    found = proposals(tmp_path, HEAD + line, "exp_overflow", tensor(name="", **LARGE))
    assert not {"sigmoid", "tanh", "log_cosh"} & found.keys()


@pytest.mark.parametrize("name", ["sinh", "cosh"])
def test_what_overflows_on_both_sides_is_bounded_on_both(tmp_path, name):
    far = tensor(name="x", min=-250.0, zeros=0, at_index=[-250.0], healthy=[0.1, 0.5])
    fixed = body(tmp_path, f"y = «torch.{name}(x)»\n", "exp_overflow", far)
    assert fixed == f"y = torch.{name}(x.clamp(-20.0, 20.0))\n"


def test_code_of_a_backward_is_tried_on_the_values_of_its_own_op(tmp_path):
    far = tensor(name="x", min=-250.0, zeros=0, at_index=[-250.0], healthy=[0.1, 0.5])
    line = HEAD + "y = «torch.sinh(x)»\n"
    case = case_of(tmp_path, line, "exp_overflow", far, phase="backward")
    finding = replace(case.finding, origin=replace(case.origin, in_backward_code=True))
    case = Case(finding, {}, case.folder)
    bound = Candidate("tried", "", case.operation.wrap(case.operation.operands[0], "clamp(max=9)"))
    assert trial.problem(case, bound) == "the patched expression is not finite either"
