"""What ranks tell each other of bad values, through the store that torch.distributed has anyway.

A rank that gives something non-finite into a collective says so before it makes the call: how much
it is, and where it was made. A rank that receives something non-finite then finds that under the
name of the call, which is the same on all ranks: group, way, number. So the answer is there when
it is asked for, and no clock is compared. Nothing is sent while all is finite but one word of each
rank, at its first collective: that it is watched.
"""

from __future__ import annotations

import json
import os
import sys
from collections import deque

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    Gift = tuple[int, int, int, int, bool, bytes]  # rank, nan, pos_inf, neg_inf, declared, story

PATIENCE_S = 10  # for a store that does not answer
MOST_GIFTS = 1024  # of this rank; of older ones nobody asks any more


class Board:
    """The store of the default process group, under keys of our own."""

    def __init__(self) -> None:
        self._store = None
        self._of = None  # the store of torch that it is a part of
        self._given: deque[str] = deque()
        self._place = (0, 1)  # rank and size of the world, also after the group was destroyed
        self.joined = None  # called once there is a store

    # ---------------------------------------------------------------- asked by the adapter
    def join(self) -> None:
        """The first collective of this process is about to run."""
        if self.store() is not None and self.joined is not None:
            self.joined()

    def give(
        self,
        group: str,
        way: str,
        sequence: int,
        nan: int,
        pos_inf: int,
        neg_inf: int,
        declared: bool,
        story: bytes,
    ) -> None:
        """This rank is about to give that much into a call."""
        store = self.store()
        if store is None:
            return
        head = {"rank": rank(), "amounts": [nan, pos_inf, neg_inf], "declared": declared}
        call = _name_of(group, way, sequence)
        try:
            number = store.add(call, 1)
            key = f"{call}/{number}"
            store.set(key, json.dumps(head).encode() + b"\n" + story)
            self._given.append(key)
            if len(self._given) > MOST_GIFTS:
                store.delete_key(self._given.popleft())
        except Exception:
            pass  # the store is gone; the capture tells of it

    def ask(self, group: str, way: str, sequence: int) -> tuple[bool, list[Gift]] | None:
        """Whether all who could give were watched, and what was given, lowest rank first."""
        store = self.store()
        if store is None:
            return None
        call = _name_of(group, way, sequence)
        try:
            count = store.add(call, 0)
            gifts = [_read(store.get(f"{call}/{number}")) for number in range(1, count + 1)]
            givers = _givers(group, way)
            known = bool(givers) and store.check([_watched(one) for one in givers])
        except Exception:
            return None
        return known, sorted(gifts, key=lambda gift: gift[0])

    # ---------------------------------------------------------------- the store
    def store(self):
        """A connection of our own, or None if there is no process group."""
        distributed = _initialized()
        if distributed is None:
            return self._store  # the group is destroyed; the store lives on while it is held
        try:
            theirs = distributed.distributed_c10d._get_default_store()
            if self._of is not theirs:
                self._store, self._of = _connected(distributed, theirs), theirs
                self._place = (distributed.get_rank(), distributed.get_world_size())
                self._store.set(_watched(rank()), f"{os.uname().nodename} {os.getpid()}")
        except Exception:
            self._store, self._of = None, None
        return self._store

    def another_connection(self):
        """For a thread of its own."""
        if self._of is None or not hasattr(self._of, "clone"):
            return None
        try:
            return _connected(sys.modules["torch.distributed"], self._of)
        except Exception:
            return None

    def own_rank(self) -> int:
        return self._place[0]

    def world_size(self) -> int:
        return self._place[1]


def _connected(distributed: ModuleType, theirs):
    """The program may wait in its own connection for as long as it likes."""
    from datetime import timedelta

    ours = theirs.clone() if hasattr(theirs, "clone") else theirs
    if ours is not theirs:
        ours.set_timeout(timedelta(seconds=PATIENCE_S))
    return distributed.PrefixStore("nanscope", ours)


def _initialized() -> ModuleType | None:
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return distributed


def rank() -> int:
    distributed = _initialized()
    return 0 if distributed is None else distributed.get_rank()


def _watched(number: int) -> str:
    return f"watched/{number}"


def _name_of(group: str, way: str, sequence: int) -> str:
    return f"gift/{group}/{way}/{sequence}"


def _read(payload: bytes) -> Gift:
    head, _, story = payload.partition(b"\n")
    said = json.loads(head)
    return (said["rank"], *said["amounts"], said["declared"], story)


def _givers(group: str, way: str) -> list[int]:
    """The ranks, in the whole world, that may have given something into such a call."""
    c10d = sys.modules["torch.distributed.distributed_c10d"]
    found = [pg for pg, name in c10d._world.pg_names.items() if name == group]
    members = c10d.get_process_group_ranks(found[0]) if found else []
    sender = way.partition(">")[0]
    if not sender:
        return members
    return [members[int(sender)]] if sender.isdigit() and int(sender) < len(members) else []


board = Board()  # of this process, as its process groups are
