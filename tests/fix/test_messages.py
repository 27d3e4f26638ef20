"""What the verb and a child write to each other comes back as it was."""

from __future__ import annotations

import math

import pytest

from nanscope.fix.run.messages import Answer, Place, Plan, RunLog, receive, send


def plan(**values: object) -> Plan:
    usual = dict(
        kind="script", target="train.py", args=["--lr", "nan"], argv=["train.py", "--lr", "nan"],
        launcher="python", exchange="/exchange", in_sandbox=True, measured={}, plain={},
        capture="run-1.nsc", answer="answer-1.json", steps_after=100, last_step=None,
        stop_at_error=False, widens=False, second_order=False,
    )  # fmt: skip
    return Plan(**(usual | values))


def test_a_plan(tmp_path):
    sent = plan(measured={"/a/träin.py": b"x = '\xe9'\r\n\x00"}, last_step=7)
    path = str(tmp_path / "plan.json")
    send(path, sent)
    assert receive(Plan, path) == sent


def test_an_answer(tmp_path):
    log = RunLog([0.5, math.nan, math.inf, -math.inf, None], [0, 0, 1, 1, 2], 3, [2], 1, 0, True)
    places = {0: Place(ran=2, largest_difference=math.inf), 1: Place(fault="nan")}
    sent = Answer("exception", 1, log, places, exception="ValueError: nan")
    path = str(tmp_path / "answer.json")
    send(path, sent)
    back = receive(Answer, path)
    assert back == sent
    assert back.report is None
    assert [type(loss) for loss in back.log.losses] == [float, float, float, float, type(None)]
    assert receive(Answer, path).log.losses == back.log.losses  # two runs of one program


def test_half_a_message_is_none(tmp_path):
    (tmp_path / "answer.json").write_text('{"ended": "norm')
    with pytest.raises(ValueError, match="Unterminated"):
        receive(Answer, str(tmp_path / "answer.json"))


def test_a_misspelt_field_is_an_error():
    with pytest.raises(AttributeError):
        _ = plan().laststep
    with pytest.raises(TypeError):
        plan(laststep=3)
