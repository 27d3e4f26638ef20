"""How a program is observed: an `Observer` for each mode, the same for a run and a block.

The one here watches every operation. That of `--mode sentinel` looks once a step and asks a replay
(nanscope/sentinel/observer.py).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Protocol

    from nanscope.moments.held import Raised
    from nanscope.run.conclusion import Conclusion, Gaps
    from nanscope.run.ending import Ending

    class Stretch(Protocol):
        """What is observed: a program under `run` or `fix`, or a watch() block."""

        error_status: int  # of a stretch in which an error was found
        model: object | None  # whose parameters and buffers count; None: those of every module

        def held(self) -> list[tuple[str, object]]:
            """What the program holds at the end, by name."""

        def before_finish(self) -> None:
            """All that was watched is judged; the session is about to be ended."""

        def finish(self, ending: Ending) -> Conclusion:
            """Ends the session."""

        def begin_session(self, pid: int, replays: bool = False) -> None: ...


class Observer:
    """Watches every operation."""

    replays = False  # this process is a snapshot that was woken
    counts_every_call = True  # of a collective, from the program's first

    def __init__(self, stretch: Stretch, adapter: ModuleType | None) -> None:
        self.stretch = stretch
        self.adapter = adapter

    def begin(self) -> None:
        """The session has begun."""

    def error_found(self) -> bool:
        return self.adapter.error_found()

    def error_in_replay(self) -> None:
        """An error is found, on this thread; a replay ends here and sends what it knows."""

    def joined_ranks(self) -> None:
        """This process is one of many ranks from now on."""

    def forked(self) -> bool:
        """In the child of a fork; False: it is a snapshot, and watches nothing yet."""
        return True

    def gaps(self) -> Gaps:
        """What this mode left out."""
        return []

    def remarks(self) -> list[str]:
        """Lines below the report."""
        return []

    def remarks_on_ranks(self) -> list[str]:
        """Lines below the report of many ranks."""
        return []

    def conclude(self, ending: Ending, raised: Raised | None, ours: bool) -> Conclusion:
        """Judges what is known at the end, and ends the session. `ours`: we stopped the program,
        so that what it raises and holds is no news.
        """
        from nanscope.moments import held

        self.adapter.watch(False)
        if not ours:
            if self.adapter.knows_bad_values():
                held.tell_of_owners(self.adapter, self.stretch.model)
            held.tell_end(self.adapter, raised, ending.status, self.stretch.held())
        self.stretch.before_finish()
        return self.stretch.finish(ending)

    def end(self) -> None:
        """The stretch is left behind."""
