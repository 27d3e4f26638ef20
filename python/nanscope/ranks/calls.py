"""A call between ranks, what was given into it, and the keys of both in the store."""

from __future__ import annotations

from typing import NamedTuple


class Message(NamedTuple):
    """The way of a message, in ranks of its group."""

    sender: int | None  # None: it was received from whoever sent one
    receiver: int
    tag: int


class CollectiveCall(NamedTuple):
    """One call of a group, the same on all of its ranks."""

    group: str
    sequence: int  # counted by group and message
    message: Message | None  # of send and recv

    @classmethod
    def read(cls, given: tuple) -> CollectiveCall:
        """The adapter gives plain values in this order (call_for_board in board.cc)."""
        group, sequence, message = given
        return cls(group, sequence, None if message is None else Message(*message))

    @property
    def key(self) -> str:
        """Under which the ranks tell what they gave into it."""
        way = "/".join(map(str, self.message)) if self.message else ""
        return f"gift/{self.group}/{way}/{self.sequence}"

    @property
    def receiver_key(self) -> str | None:
        """Under which all bad messages to that rank with that tag stand."""
        if self.message is None:
            return None
        return f"to/{self.group}/{self.message.receiver}/{self.message.tag}"

    @property
    def has_any_sender(self) -> bool:
        return self.message is not None and self.message.sender is None


class Gift(NamedTuple):
    """What one rank gave that is not finite."""

    rank: int
    nan: int
    pos_inf: int
    neg_inf: int
    declared: bool  # it is meant to be there
    story: bytes  # where it was made: a finding, as in a capture


class Answer(NamedTuple):
    known: bool  # all who could give were watched
    gifts: list[Gift]  # lowest rank first
    bucket: int | None  # of DistributedDataParallel, whose gradients it carried
