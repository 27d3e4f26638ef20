"""A word that the native modules do not know is refused, not taken for another."""

import pytest

from nanscope import _core, _torch


def test_a_kind_of_origin():
    with pytest.raises(ValueError, match="invented"):
        _core.tell({"kind": "invented"})


def test_what_is_done_on_an_error():
    for word in ("stop", "go_on", "raise"):
        _torch.SessionOptions(on_error=word)
    with pytest.raises(ValueError, match="never"):
        _torch.SessionOptions(on_error="never")
