"""No birth is lost: some hundred of them in one process, each reported where it happens."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from watched import watch

CASES = Path(__file__).with_name("birth_cases.py")


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str | None]:
    run = watch(CASES, tmp_path_factory.mktemp("births"), "-q", "--strict")
    assert run.status == 3
    return json.loads(run.out)


def test_every_birth_is_reported(reported: dict[str, str | None]) -> None:
    assert len(reported) > 540
    assert [name for name, op in reported.items() if op is None] == []


@pytest.mark.parametrize("op", ["log", "sqrt", "reciprocal", "exp"])
def test_the_op_that_is_named_is_the_one(reported: dict[str, str | None], op: str) -> None:
    for form in (op, op + "_"):
        ops = {op for name, op in reported.items() if name.split(" ")[0] == form}
        assert ops == {f"aten::{form}"}
