"""The sentinel of `watch(mode="sentinel")`."""

from __future__ import annotations

import os

from nanscope import _core
from nanscope.errors import NonFiniteError
from nanscope.sentinel.observer import SentinelObserver

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from nanscope.api.watch import WatchBlock
    from nanscope.moments.held import Raised
    from nanscope.run.ending import Ending
    from nanscope.sentinel.answers import Answer


class BlockSentinel(SentinelObserver):
    def __init__(self, block: WatchBlock, adapter: ModuleType) -> None:
        super().__init__(block, adapter, block.snapshot_every or 0.0, quiet=False)

    def connect(self, torch: ModuleType) -> None:
        self.stretch.hooks.tell_sentinel(torch, self.adapter, self.before_workers)
        self.sentinel.begin()

    def begin(self) -> None:
        self.sentinel.due()  # a snapshot goes on from here when it is woken

    def exception_for_answer(self, answer: Answer) -> BaseException | None:
        return self.stretch.exception_for_finding(0, answer.error, answer.text)

    def suspicion(self, ending: Ending, raised: Raised | None) -> str | None:
        if isinstance(ending.exception, NonFiniteError):
            return None  # it has said what there is to say
        return super().suspicion(ending, raised)

    def forked(self) -> bool:
        if self.sentinel.snapshots.forking:
            return False
        if os.environ.get("NANSCOPE_REPLAY"):
            _core.dies_with_its_parent()
        self.sentinel.snapshots.forked()
        self.adapter.end_looks()
        return True
