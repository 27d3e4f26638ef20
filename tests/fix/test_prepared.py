"""Repeats are forks of a process that has imported torch, where the program cannot tell."""

from __future__ import annotations

import os

import pytest

from nanscope.fix.run.environment import is_as_given
from nanscope.fix.run.runs import Runner

PROGRAM = """\
import os, sys
found = "torch" in sys.modules
{setting}
import torch
w = torch.ones(3, requires_grad=True)
(w * float(found)).sum().backward()
sys.exit(7)
"""


@pytest.mark.parametrize(
    ("setting", "loss"), [("", 3.0), ('os.environ["OMP_NUM_THREADS"] = "1"', 0.0)]
)
def test_torch_is_there_unless_the_environment_was_changed(
    tmp_path, monkeypatch, setting, loss
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(PROGRAM.format(setting=setting))
    exchange = tmp_path / "exchange"
    exchange.mkdir()
    runner = Runner("script", str(tmp_path / "train.py"), [], str(exchange), False, False, 5)
    try:
        first = runner.run({}, first=True)
        again = [runner.run({}) for _ in range(2)]
    finally:
        runner.close()
    assert first.answer.log.losses == [0.0]
    assert [run.answer.log.losses for run in again] == [[loss], [loss]]
    assert [run.status for run in (first, *again)] == [7, 7, 7]


def test_the_environment_that_torch_sets_is_as_given(monkeypatch) -> None:
    monkeypatch.setenv("SEED", "1")
    assert is_as_given({**os.environ, "TORCHINDUCTOR_CACHE_DIR": "/tmp/x"})
    assert not is_as_given({})
