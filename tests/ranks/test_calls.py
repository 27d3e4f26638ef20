"""The keys under which ranks tell each other of a call."""

from nanscope.ranks.calls import CollectiveCall, Message


def test_a_message_has_the_same_key_on_both_sides():
    sent = CollectiveCall.read(("0", 4, (1, 0, 3)))
    received = CollectiveCall.read(("0", 4, (1, 0, 3)))
    assert sent == CollectiveCall("0", 4, Message(1, 0, 3))
    assert sent.key == received.key


def test_no_two_calls_share_a_key():
    ways = [None, (1, 0, 3), (0, 1, 3), (1, 0, 4), (None, 0, 3)]
    calls = [CollectiveCall.read((group, n, way)) for group in "01" for n in (0, 1) for way in ways]
    assert len({call.key for call in calls}) == len(calls)


def test_messages_to_one_rank_under_one_tag_are_found_together():
    assert CollectiveCall.read(("0", 4, (1, 0, 3))).receiver_key == (
        CollectiveCall.read(("0", 7, (None, 0, 3))).receiver_key
    )
    assert CollectiveCall.read(("0", 4, (1, 0, 3))).receiver_key != (
        CollectiveCall.read(("0", 4, (1, 0, 4))).receiver_key
    )
    assert CollectiveCall.read(("0", 4, None)).receiver_key is None
