"""Which replica is not like the others."""

from __future__ import annotations

from nanscope.ranks.replicas import differences


def of(**sums: int) -> dict:
    return {"steps": 5, "sums": sums}


def test_the_one_that_differs_is_named() -> None:
    said = differences({0: of(w=1, b=2), 1: of(w=1, b=2), 2: of(w=9, b=2)})
    assert list(said) == [2]
    assert said[2].startswith("its `w` had not the bits that ranks 0, 1 had")


def test_of_two_nobody_knows_which_is_right() -> None:
    said = differences({0: of(w=1, b=1), 1: of(w=2, b=2)})
    assert sorted(said) == [0, 1]
    assert said[0].startswith("its `w` and 1 more had not the bits that rank 1 had")


def test_what_was_not_taken_at_the_same_step_is_not_compared() -> None:
    later = {"steps": 6, "sums": {"w": 2}}
    assert differences({0: of(w=1), 1: later, 2: None}) == {}
    assert differences({0: of(w=1), 1: of(v=2)}) == {}
    assert differences({0: of(w=1), 1: of(w=1), 2: later}) == {}
