"""Programs that try to walk around the watch, one table for each way: see tests/prepared.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from prepared import complaints

TABLES = Path(__file__).with_name("holes")
ALWAYS, RELEASE = pytest.mark.slow, pytest.mark.release
WAYS = (
    "through_the_host",
    "shared_memory",
    "late_ops",
    "aliased_out",
    "partly_written",
    "subclasses",
    "unsaid_subclasses",
    "put_under",
    "views",
    "loss_scaling",
)
SHORT = ("aliased_out", "loss_scaling")


@pytest.mark.parametrize("mode", ["exact", "sentinel"])
def test_the_programs_that_were_wrong_at_first(mode: str, tmp_path: Path) -> None:
    assert complaints(TABLES / "defects.txt", tmp_path, mode) == []


@pytest.mark.parametrize(
    "way", [pytest.param(way, marks=ALWAYS if way in SHORT else RELEASE) for way in WAYS]
)
def test_nobody_walks_around_the_watch(way: str, tmp_path: Path) -> None:
    assert complaints(TABLES / f"{way}.txt", tmp_path, "exact") == []


@pytest.mark.release
@pytest.mark.parametrize("way", WAYS)
def test_nor_around_a_look_once_a_step(way: str, tmp_path: Path) -> None:
    assert complaints(TABLES / f"{way}.txt", tmp_path, "sentinel") == []
