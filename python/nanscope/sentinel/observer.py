"""The observer of `--mode sentinel`: a look once a step, and a replay when one goes bad."""

from __future__ import annotations

from nanscope.moments import held
from nanscope.run.ending import REAL_EXIT, Ending
from nanscope.run.observer import Observer
from nanscope.sentinel.end import suspicion
from nanscope.sentinel.looks import Sentinel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from nanscope.moments.held import Raised
    from nanscope.run.conclusion import Conclusion, Gaps
    from nanscope.run.observer import Stretch
    from nanscope.sentinel.answers import Answer


NOT_KNOWN_FIRST = (
    "nanscope: which rank was first is not known to --mode sentinel. The same command without "
    "--mode sentinel watches every operation, and names it."
)
UNDONE = "all of it was put back, or thrown away, before it was used"


class SentinelObserver(Observer):
    """A `Host`. In a woken snapshot it is the host of the replay."""

    counts_every_call = False

    def __init__(self, stretch: Stretch, adapter: ModuleType, every: float, quiet: bool) -> None:
        super().__init__(stretch, adapter)
        self.sentinel = Sentinel(adapter, self, every, quiet)

    @property
    def replays(self) -> bool:
        return self.sentinel.replay is not None

    def looks(self) -> bool:
        """Nothing is watched but once a step: the end is to be looked at, too."""
        return not self.replays and self.sentinel.exact_from is None

    def before_workers(self, _: object) -> None:
        if self.looks():
            self.sentinel.before_workers()

    def joined_ranks(self) -> None:
        """A snapshot from before would join them a second time: it is never woken."""
        if not self.replays:
            self.sentinel.snapshots.end_all()

    def error_found(self) -> bool:
        return self.sentinel.answer is not None or super().error_found()

    def gaps(self) -> Gaps:
        own = self.sentinel.replay.gaps() if self.replays else []
        return self.sentinel.gaps + own

    def remarks(self) -> list[str]:
        return self.sentinel.remarks

    def remarks_on_ranks(self) -> list[str]:
        return [NOT_KNOWN_FIRST]

    # ---------------------------------------------------------------- a replay
    def watch_exactly(self, run: int = 0) -> None:
        if run:
            self.stretch.begin_session(run, replays=True)
        self.adapter.install()
        self.adapter.take_over(missed=not run)
        self.adapter.watch(True)

    def error_in_replay(self) -> None:
        """Does not return in a replay."""
        if self.replays:
            self.sentinel.replay.error()

    def conclude_replay(self, kind: str, ended: bool = False) -> Conclusion:
        """At an error or at the moment of the alarm; `ended`: the program was at its end there."""
        self.adapter.watch(False)
        if ended:
            if self.adapter.knows_bad_values():
                held.tell_of_owners(self.adapter, self.stretch.model)
            held.tell_end(self.adapter, None, 0, self.stretch.held())
        status = self.stretch.error_status if self.adapter.error_found() else 0
        return self.stretch.finish(Ending(kind, status))

    # ---------------------------------------------------------------- the end
    def conclude(self, ending: Ending, raised: Raised | None, ours: bool) -> Conclusion:
        if self.replays and not ours:
            self.adapter.watch(False)
            held.tell_of_owners(self.adapter, self.stretch.model)
            self.sentinel.replay.look_for_unexplained()
        if not self.looks():
            conclusion = super().conclude(ending, raised, ours)
            if self.replays:
                self._send(conclusion, raised)
            return conclusion
        answer = self._answer_at_end(ending, raised)
        self.adapter.take_over()
        self.sentinel.end()
        conclusion = self.stretch.finish(ending) if answer is None else answer.conclusion
        for undone in self.sentinel.undone:
            conclusion.capture.take_undone(undone.conclusion.capture, UNDONE)
        return conclusion

    def _send(self, conclusion: Conclusion, raised: Raised | None) -> None:
        """A replay came to an end of its own. It is not to run the program's atexit."""
        try:
            self.sentinel.replay.send(conclusion, raised.text if raised is not None else "")
        finally:
            REAL_EXIT(1)

    def _answer_at_end(self, ending: Ending, raised: Raised | None) -> Answer | None:
        """What a replay found; None: nothing is wrong, or nobody knows."""
        sentinel = self.sentinel
        if sentinel.waits:
            self.adapter.settle_harm()
            sentinel.is_undone()
        if sentinel.answer is not None:
            self.ran_on(sentinel.answer, ending)
            return sentinel.answer
        held.tell_of_owners(self.adapter, self.stretch.model)
        why = self.suspicion(ending, raised)
        answer = sentinel.at_end(why, ending.kind == "signal") if why else None
        if answer is not None and answer.error is not None:
            self.keep(answer)
        elif sentinel.gaps:
            return None  # of which no replay knows
        return answer

    def suspicion(self, ending: Ending, raised: Raised | None) -> str | None:
        """Why the end is worth a replay."""
        return suspicion(self.adapter, ending, raised, self.stretch.held)

    def may_be_undone(self, answer: Answer) -> bool:
        """Whether the program runs on until it uses what is spoilt."""
        return False

    def forget(self, answer: Answer) -> None:
        """The error was undone."""

    def keep(self, answer: Answer) -> None:
        """An error was found by a replay."""

    def ran_on(self, answer: Answer, ending: Ending) -> None:
        """The program went on after the error, and has ended by now."""

    def end(self) -> None:
        if not self.replays:
            self.sentinel.end()
