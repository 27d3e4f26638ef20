"""The end of a rank: one tells of all, the others leave it to that one.

When one rank has found an error, the others are told through the store. A small thread of each
listens there: it stops the program of its rank, and ends the process where that cannot be stopped
because it waits in a collective for a rank that is gone.
"""

from __future__ import annotations

import json
import os
import time
from _thread import allocate_lock, get_ident, start_new_thread

from nanscope.ranks.board import board, rank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from nanscope import _core

LISTEN_EVERY_S = 0.5
OWN_ERROR_S = 1.0  # a rank that was given the same value finds its own error in the same step
WAIT_FOR_OTHERS_S = 15.0
STOP, TELLER, TOLD = "stop", "teller", "told"


class Listener:
    """Waits for the word that another rank has found an error."""

    def __init__(self) -> None:
        self.stopped: Callable[[], None] | None = None  # called on the listener's own thread
        self._quit = None
        self._ended = None
        self._thread = 0

    def begin(self) -> None:
        """Once there is a store."""
        store = board.another_connection()
        if store is None or self.stopped is None or self._quit is not None:
            return
        self._quit, self._ended = allocate_lock(), allocate_lock()
        self._quit.acquire()
        self._ended.acquire()
        self._thread = start_new_thread(self._listen, (store,))

    def end(self) -> None:
        """Before the interpreter is torn down."""
        if self._quit is None or get_ident() == self._thread or not self._quit.locked():
            return
        self._quit.release()
        self._ended.acquire(timeout=5)

    def _listen(self, store) -> None:
        try:
            while not self._quit.acquire(timeout=LISTEN_EVERY_S):
                if store.check([STOP]):
                    if not self._quit.acquire(timeout=OWN_ERROR_S):
                        self.stopped()
                    return
        except Exception:
            pass  # the store is gone: whoever kept it has ended
        finally:
            self._ended.release()


listener = Listener()


def is_one_of_many() -> bool:
    return board.world_size() > 1


def stop_others() -> None:
    """This rank has found an error."""
    _quietly(lambda store: store.set(STOP, str(rank())))


def are_stopped() -> bool:
    return bool(_quietly(lambda store: store.check([STOP])))


class End:
    """What one rank says of its end."""

    def __init__(self, number: int, host: str, pid: int, sentence: str, path: str, capture: bytes):
        self.rank = number
        self.host = host
        self.pid = pid
        self.sentence = sentence
        self.path = path
        self.capture = capture  # empty if it found no error

    def write(self) -> None:
        head = {key: value for key, value in vars(self).items() if key != "capture"}
        data = json.dumps(head).encode() + b"\n" + self.capture
        _quietly(lambda store: store.set(f"ended/{self.rank}", data))

    @classmethod
    def read(cls, data: bytes) -> End:
        head, _, capture = data.partition(b"\n")
        said = json.loads(head)
        return cls(said["rank"], said["host"], said["pid"], said["sentence"], said["path"], capture)

    @classmethod
    def of(cls, capture: _core.Capture, path: str, sentence: str) -> End:
        data = capture.to_bytes() if capture.error else b""
        host = os.uname().nodename
        return cls(board.own_rank(), host, os.getpid(), sentence, path, data)


def is_teller() -> bool:
    """The first to ask tells of all."""
    return _quietly(lambda store: store.add(TELLER, 1)) in (1, None)


def ends_of_others(own: End) -> tuple[list[End], list[int]]:
    """Of every rank that has ended in time, with this one; and those that have not."""
    ends = {own.rank: own}
    waited_until = time.monotonic() + WAIT_FOR_OTHERS_S
    while True:
        missing = [one for one in range(board.world_size()) if one not in ends]
        for one in missing:
            data = _quietly(lambda store, key=f"ended/{one}": store.check([key]) and store.get(key))
            if data:
                ends[one] = End.read(data)
        missing = [one for one in missing if one not in ends]
        if not missing or time.monotonic() > waited_until or board.store() is None:
            return [ends[one] for one in sorted(ends)], missing
        time.sleep(0.05)


def has_told() -> None:
    _quietly(lambda store: store.set(TOLD, "1"))


def wait_until_told() -> None:
    """A launcher ends all ranks when the first has ended: the one that tells is to be the last."""
    waited_until = time.monotonic() + 2 * WAIT_FOR_OTHERS_S
    while time.monotonic() < waited_until:
        if _quietly(lambda store: store.check([TOLD])) in (True, None):
            return
        time.sleep(0.05)


def _quietly(act):
    store = board.store()
    if store is None:
        return None
    try:
        return act(store)
    except Exception:
        return None  # it is gone
