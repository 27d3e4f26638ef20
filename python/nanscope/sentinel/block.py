"""The sentinel of `watch(mode="sentinel")`."""

from __future__ import annotations

import os

from nanscope.errors import NonFiniteError
from nanscope.findings import Finding
from nanscope.run.ending import REAL_EXIT, Ending
from nanscope.sentinel.end import suspicion
from nanscope.sentinel.looks import Sentinel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from nanscope.api.watch import WatchBlock
    from nanscope.moments.held import Raised
    from nanscope.sentinel.answers import Answer


class BlockSentinel:
    """A `Host`. In a woken snapshot it is the host of the replay."""

    def __init__(self, block: WatchBlock, adapter: ModuleType, every: float) -> None:
        self.block = block
        self.adapter = adapter
        self.sentinel = Sentinel(adapter, self, every, quiet=False)

    def begin(self) -> None:
        self.sentinel.begin()

    def first_snapshot(self) -> None:
        self.sentinel.due()

    def looks(self) -> bool:
        return self.sentinel.replay is None and self.sentinel.exact_from is None

    def error_found(self) -> bool:
        return self.sentinel.answer is not None

    def before_workers(self, _: object) -> None:
        if self.looks():
            self.sentinel.before_workers()

    def gaps(self) -> list[tuple[str, str, int]]:
        replay = self.sentinel.replay
        return self.sentinel.gaps + (replay.gaps() if replay is not None else [])

    # ---------------------------------------------------------------- a replay
    def watch_exactly(self, run: int = 0, capture: str = "") -> None:
        if run:
            self.block.begin_session(run, "raise")
        self.adapter.install()
        self.adapter.take_over(missed=not run)
        self.adapter.watch(True)

    def error_in_replay(self) -> None:
        """Does not return in a replay."""
        if self.sentinel.replay is not None:
            self.sentinel.replay.error()

    def judged_in_replay(self, kind: str, ended: bool = False) -> dict:
        adapter = self.adapter
        adapter.watch(False)
        if ended:
            adapter.program_ended(False, False, 0, "", [], self.block.held(), [])
        return adapter.finish(int(adapter.error_found()), kind, self.gaps(), False, False)

    def judged(self, told: dict, raised: Raised | None) -> None:
        """A replay came to the end of the block."""
        if self.sentinel.replay is not None:
            try:
                self.sentinel.replay.send(told, raised.text if raised is not None else "")
            finally:
                REAL_EXIT(1)

    # ---------------------------------------------------------------- answers
    def exception_for_answer(self, answer: Answer) -> BaseException | None:
        return self.block.exception_for_finding(0, Finding.from_json(answer.error), answer.text)

    def at_end(self, error: BaseException | None, raised: Raised | None) -> dict | None:
        """What a replay told of the block; None: nothing is wrong, or nobody knows."""
        sentinel = self.sentinel
        ending = Ending("exception" if error is not None else "normally", int(error is not None))
        answer = sentinel.answer
        if answer is None and not isinstance(error, NonFiniteError):
            why = suspicion(self.adapter, ending, raised, self.block.held)
            answer = sentinel.at_end(why, False) if why else None
        self.adapter.take_over()
        self.end()
        return answer.told if answer is not None else None

    def end(self) -> None:
        if self.sentinel.replay is None:
            self.sentinel.end()

    def forked(self) -> bool:
        """In a child; False: it is a snapshot."""
        if self.sentinel.snapshots.forking:
            return False
        if os.environ.get("NANSCOPE_REPLAY"):
            from nanscope import _core

            _core.dies_with_its_parent()
        self.sentinel.snapshots.forked()
        self.adapter.end_looks()
        return True
