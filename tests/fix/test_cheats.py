"""Patches that only make the NaN go away are not verified, and the reason is given."""

from __future__ import annotations

import os

import pytest
from proposing import NAME

from nanscope.fix.patch import instrument
from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.source_file import Edit
from nanscope.fix.run.runs import Runner
from nanscope.fix.run.verify import judge

pytestmark = pytest.mark.slow

PROGRAM = """\
import torch
torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
data = torch.rand(8, 6, 3)

def loss_of(x, step):
    p = torch.sigmoid(model(x)).squeeze(1)
    if step == 4:
        p = p * (x[:, 0] > 0.5)
    return -torch.log(p).mean()

for step in range(8):
    opt.zero_grad()
    loss = loss_of(data[step], step)
    loss.backward()
    opt.step()
"""
CHEATS = {
    "nan_to_num": ("torch.log(p)", "torch.log(p).nan_to_num()", "what failed becomes 3.4e+38"),
    "nan_to_num on the loss": (
        "-torch.log(p).mean()",
        "torch.nan_to_num(-torch.log(p).mean())",
        "still there",
    ),
    "clamp with a huge bound": ("torch.log(p)", "torch.log(p).clamp(min=-1e30)", "still there"),
    "huge bound inside": ("torch.log(p)", "torch.log(p.clamp(max=1e30))", "still there"),
    "detach": (
        "torch.log(p)",
        "torch.log(p.detach().clamp(min=1e-8))",
        "no longer requires a gradient",
    ),
    "early return": (
        "    opt.zero_grad()\n",
        "    if step == 4:\n        break\n    opt.zero_grad()\n",
        "ends earlier than before: 4 of 8 backward calls",
    ),
    "broken": (
        "    opt.zero_grad()\n",
        "    not_there\n    opt.zero_grad()\n",
        "ends with NameError: name 'not_there' is not defined",
    ),
    "zeroed loss": (
        "    loss.backward()\n",
        "    if step == 4:\n        loss = 0 * model(data[0]).sum()\n    loss.backward()\n",
        "no gradient reaches the parameters in step 4",
    ),
    "another value for all": (
        "torch.log(p)",
        "torch.log(p + 0.5)",
        "values that were healthy changed",
    ),
    "swallowed": (
        "    loss.backward()\n    opt.step()\n",
        "    if not loss.isfinite():\n        continue\n    loss.backward()\n    opt.step()\n",
        "ends earlier than before: 7 of 8 backward calls",
    ),
}
HONEST = ("torch.log(p)", "torch.log(p.clamp(min=1e-8))")


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    """The program's own run, and a way to try a change of it."""
    folder = tmp_path_factory.mktemp("cheats")
    (folder / NAME).write_text(PROGRAM)
    exchange = tmp_path_factory.mktemp("exchange")
    before = os.getcwd()
    os.chdir(folder)
    runner = Runner("script", NAME, [], str(exchange), False, False, 100)
    baseline = runner.run({}, first=True)
    finding = baseline.error

    def tried(old: str, new: str):
        case = Case(finding, {}, str(folder), NAME)
        assert case.node is not None
        begin = PROGRAM.index(old)
        edit = Edit(case.source.path, begin, begin + len(old), new)
        candidate = Candidate("tried", "", [edit])
        texts = instrument.measuring(case, candidate)
        data = {path: source.data for path, source in texts.items()}
        run = runner.run(data, last_step=105, stop_at_error=True)
        return judge(finding, candidate, baseline, run)

    yield tried
    runner.close()
    os.chdir(before)


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_is_not_verified(trial, name):
    old, new, reason = CHEATS[name]
    judgement = trial(old, new)
    assert judgement.status == "failed", judgement
    assert reason in judgement.detail


def test_an_honest_patch_is(trial):
    judgement = trial(*HONEST)
    assert judgement.status == "verified", judgement
    assert "healthy values are the same, bit for bit" in judgement.checks
    assert judgement.losses_same is True
