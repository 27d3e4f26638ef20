"""The sentinel of `nanscope run --mode sentinel`."""

from __future__ import annotations

import contextlib
import os

from nanscope import _core
from nanscope.moments import attach, held
from nanscope.run.stopping import Stopping
from nanscope.sentinel.end import suspicion
from nanscope.sentinel.observer import SentinelObserver

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from nanscope.moments.held import Raised
    from nanscope.run.ending import Ending
    from nanscope.run.process import Watch
    from nanscope.sentinel.answers import Answer

STATE = ("gradient", "loss", "parameter", "buffer", "optimizer_state")


class RunSentinel(SentinelObserver):
    def __init__(self, watch: Watch, adapter: ModuleType) -> None:
        self.watch = watch
        self.settings = settings = watch.settings
        quiet = settings.quiet or settings.is_child
        super().__init__(watch, adapter, settings.snapshot_every, quiet)
        self.stopping = Stopping(settings, adapter)

    def connect(self, torch: ModuleType) -> None:
        attach.connect_sentinel(
            torch, self.adapter, self.settings, self.exception_for, self.before_workers
        )

    def begin(self) -> None:
        os.wait = _core.Around(os.wait, before=self._waits_for_any)
        os.waitpid = _core.Around(os.waitpid, before=self._waits)
        self.sentinel.begin()
        self.sentinel.due()

    def forked(self) -> bool:
        sentinel = self.sentinel
        if sentinel.snapshots.forking:
            self.adapter.fork_ended()
            return False
        if self.replays:  # a worker of a replay
            _core.dies_with_its_parent()
            self.adapter.end_looks()
            sentinel.replay = None
            sentinel.exact_from = 0
        else:
            sentinel.forked()
        return True

    # ---------------------------------------------------------------- children of the program's
    def _waits_for_any(self, *_: object) -> None:
        """A snapshot is nothing that the program could wait for."""
        self.sentinel.snapshots.end_all()
        self.sentinel.due_at_once()

    def _waits(self, pid: object = 0, *_: object) -> None:
        if pid == -1:
            self._waits_for_any()

    # ---------------------------------------------------------------- errors
    def exception_for(self, number: int | None) -> BaseException | None:
        if number is not None:
            self.error_in_replay()
        sentinel = self.sentinel
        if number is not None and sentinel.waits:  # what is spoilt is used
            sentinel.waits = False
            return self.stopping.for_finding(lambda: sentinel.answer.error)
        return self.stopping(number)

    def may_be_undone(self, answer: Answer) -> bool:
        harm = answer.error.harm
        acts_at_once = self.settings.on_error == "raise" or self.settings.is_child
        return not acts_at_once and harm is not None and harm.kind in STATE

    def forget(self, answer: Answer) -> None:
        if answer.conclusion.path:
            with contextlib.suppress(OSError):
                os.unlink(answer.conclusion.path)

    def exception_for_answer(self, answer: Answer) -> BaseException | None:
        self.keep(answer)
        return self.stopping.for_finding(lambda: answer.error)

    def keep(self, answer: Answer) -> None:
        """On disk before the program runs on."""
        path = self.settings.capture_path()
        try:
            flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if self.settings.force else os.O_EXCL)
            with open(os.open(path, flags, 0o644), "wb") as file:
                file.write(answer.data)
            answer.conclusion.path = path
        except OSError as error:
            answer.conclusion.complaints = [f"{path} could not be written: {error.strerror}."]
        if self.settings.is_child:
            self.adapter.announce(answer.conclusion.path)

    # ---------------------------------------------------------------- the end
    def suspicion(self, ending: Ending, raised: Raised | None) -> str | None:
        following = self.watch.following
        if following is not None and following.started:
            return None  # a replay would start the other Pythons again; they tell of themselves
        return suspicion(self.adapter, ending, raised, held.tensors_of_the_program)

    def ran_on(self, answer: Answer, ending: Ending) -> None:
        answer.conclusion.ends(ending.kind)
