"""What the callbacks of all trainers share."""

from __future__ import annotations

import pickle

import pytest

from nanscope.integrations.training import WatchedTraining


@pytest.mark.parametrize("on_find", ["stop", "raise", "go_on"])
def test_it_can_be_pickled(on_find: str) -> None:
    """As trainers do that start other processes."""
    assert pickle.loads(pickle.dumps(WatchedTraining(on_find, "exact"))).stops is (
        on_find == "stop"
    )
