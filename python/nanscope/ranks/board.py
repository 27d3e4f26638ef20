"""What ranks tell each other of bad values, through the store that torch.distributed has anyway.

A rank that gives something non-finite into a collective says so before it makes the call: how much
it is, and where it was made. A rank that receives something non-finite then finds that under the
name of the call, which is the same on all ranks: group, message, number (calls.py). So the answer
is there when it is asked for, and no clock is compared. Nothing is sent while all is finite but one
word of each rank, at its first collective: that it is watched.

A launcher that starts failed ranks again keeps its store: all keys begin with the number of the
attempt, so that nobody takes what an earlier attempt said for what happens now.
"""

from __future__ import annotations

import json
import os
import sys
from collections import deque

from nanscope.ranks.buckets import buckets
from nanscope.ranks.calls import Answer, CollectiveCall, Gift

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

PATIENCE_S = 10  # for a store that does not answer
MOST_GIFTS = 1024  # of this rank; of older ones nobody asks any more
STOP = "stop"  # the key under which a rank says that it has found an error


class Board:
    """The store of the default process group, under keys of our own."""

    def __init__(self) -> None:
        self.joined: Callable[[], None] | None = None  # called whenever there is a new store
        # From the first on, as every rank does. Otherwise a call has other numbers on other ranks,
        # and nothing can be asked of them.
        self.counts_every_call = False
        self._of = None  # the store of torch that it is a part of
        self.begin_anew()

    def begin_anew(self) -> None:
        """Also in the child of a fork: the process group is its parent's, and so is the rank."""
        self._of_parent = self._of
        self._store = None
        self._of = None
        self._given: deque[str] = deque()
        self._place = (0, 1)  # rank and size of the world, also after the group was destroyed

    # ---------------------------------------------------------------- asked by the adapter
    def join(self, *_: object) -> None:
        """A process group was made, or its first collective is about to run."""
        self.store()

    def leave(self) -> None:
        """This rank is not watched any more: what it gives from now on, nobody knows."""
        store = self.store()
        try:
            if store is not None:
                store.delete_key(_watched(self.own_rank()))
        except Exception:
            pass  # the store is gone, and with it whoever would have asked

    def give(self, call: tuple, gift: tuple) -> None:
        """This rank is about to give that much into a call: the fields of a Gift after the rank."""
        store = self.store()
        if store is None or not self.counts_every_call:
            return
        into = CollectiveCall.read(call)
        try:
            key = f"{into.key}/{store.add(into.key, 1)}"
            store.set(key, _written(Gift(rank(), *gift)))
            if to := into.receiver_key:
                store.set(f"{to}/{store.add(to, 1)}", key)
            self._given.append(key)
            if len(self._given) > MOST_GIFTS:
                store.delete_key(self._given.popleft())
        except Exception:
            pass  # the store is gone; the capture tells of it

    def ask(self, call: tuple, bucket: tuple[int, int]) -> Answer | None:
        """What was given into a call, and which bucket of DDP it is. `bucket`: the number of the
        call among the reducer's of its backward, and its bytes.
        """
        store = self.store()
        if store is None or not self.counts_every_call:
            return None
        of = CollectiveCall.read(call)
        try:
            if of.has_any_sender:
                gifts = _gifts_to_receiver(store, of.receiver_key)
                # Which of them came is not known, unless none was bad.
                known = not gifts and _are_watched(store, _givers(of))
            else:
                count = store.add(of.key, 0)
                gifts = [_read(_get(store, f"{of.key}/{one}")) for one in range(1, count + 1)]
                known = _are_watched(store, _givers(of))
        except Exception:
            return None
        gifts.sort(key=lambda gift: gift.rank)
        return Answer(known, gifts, buckets.number_of(*bucket))

    # ---------------------------------------------------------------- the store
    def store(self):
        """A connection of our own, or None if there is no process group."""
        distributed = _initialized()
        if distributed is None:
            return self._store  # the group is destroyed; the store lives on while it is held
        is_new = False
        try:
            theirs = distributed.distributed_c10d._get_default_store()
            if theirs is self._of_parent:
                return None
            is_new = self._of is not theirs
            if is_new:
                self._store, self._of = _connected(distributed, theirs), theirs
                self._place = (distributed.get_rank(), distributed.get_world_size())
                self._store.set(_watched(rank()), f"{os.getpid()} {_processes_here()}")
        except Exception:
            self._store = self._of = None
            is_new = False
        if is_new and self.joined is not None:
            self.joined()
        return self._store

    def another_connection(self):
        """For a thread of its own."""
        if self._of is None or not hasattr(self._of, "clone"):
            return None
        try:
            return _connected(sys.modules["torch.distributed"], self._of)
        except Exception:
            return None

    def was_stopped_before(self) -> bool:
        """An error was found before the launcher started the ranks again."""
        try:
            earlier = [
                _connected(sys.modules["torch.distributed"], self._of, number)
                for number in range(attempt())
            ]
            return any(store.check([STOP]) for store in earlier)
        except Exception:
            return False

    def is_gone(self, number: int) -> bool | None:
        """Whether the process of that rank has ended; None: it is elsewhere, or not watched."""
        pid = self._process_of(number)
        return None if pid is None else has_ended(pid)

    def is_rank(self, pid: int) -> bool:
        """Whether that process of this system is one of the ranks."""
        return any(self._process_of(number) == pid for number in range(self.world_size()))

    def _process_of(self, number: int) -> int | None:
        try:
            key = _watched(number)
            if not self._store.check([key]):
                return None
            pid, _, where = self._store.get(key).decode().partition(" ")
            return int(pid) if where == _processes_here() else None
        except Exception:
            return None

    def own_rank(self) -> int:
        return self._place[0]

    def world_size(self) -> int:
        return self._place[1]


def attempt() -> int:
    """How often an elastic launcher has started the ranks again."""
    count = os.environ.get("TORCHELASTIC_RESTART_COUNT", "")
    return int(count) if count.isdigit() else 0


def _connected(distributed: ModuleType, theirs, number: int | None = None):
    """The program may wait in its own connection for as long as it likes."""
    ours = theirs.clone() if hasattr(theirs, "clone") else theirs
    if ours is not theirs:
        ours.set_timeout(_patience())
    return distributed.PrefixStore(f"nanscope/{attempt() if number is None else number}", ours)


def _patience():
    from datetime import timedelta

    return timedelta(seconds=PATIENCE_S)


def _initialized() -> ModuleType | None:
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return distributed


def rank() -> int:
    distributed = _initialized()
    return 0 if distributed is None else distributed.get_rank()


def _processes_here() -> str:
    """A name for the system whose processes are counted together with this one."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return f"{file.read().strip()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return f"only {os.getpid()}"


def has_ended(pid: int) -> bool:
    """One that its parent has not asked for yet has ended too."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def _watched(number: int) -> str:
    return f"watched/{number}"


def _are_watched(store, ranks: list[int]) -> bool:
    return bool(ranks) and store.check([_watched(one) for one in ranks])


def _gifts_to_receiver(store, to: str) -> list[Gift]:
    keys = [_get(store, f"{to}/{one}").decode() for one in range(1, store.add(to, 0) + 1)]
    return [_read(_get(store, key)) for key in keys if store.check([key])]


def _get(store, key: str) -> bytes:
    """Who was about to write it may have been killed: nobody waits for ever."""
    store.wait([key], _patience())
    return store.get(key)


def _written(gift: Gift) -> bytes:
    head = gift._asdict()
    return json.dumps(head | {"story": None}).encode() + b"\n" + gift.story


def _read(payload: bytes) -> Gift:
    head, _, story = payload.partition(b"\n")
    return Gift(**json.loads(head) | {"story": story})


def _givers(call: CollectiveCall) -> list[int]:
    """The ranks, in the whole world, that may have given something into such a call."""
    c10d = sys.modules["torch.distributed.distributed_c10d"]
    found = [pg for pg, name in c10d._world.pg_names.items() if name == call.group]
    members = c10d.get_process_group_ranks(found[0]) if found else []
    if call.message is None or call.message.sender is None:
        return members
    sender = call.message.sender
    return [members[sender]] if 0 <= sender < len(members) else []


board = Board()  # of this process, as its process groups are
