"""A process among many ranks: it joins them, is stopped with them, and what all found is told once.

Who tells: the process that started the ranks, if it is watched; otherwise the first rank that has
found an error. The others leave what they know in the store, and wait until it has been told.
"""

from __future__ import annotations

import os
import sys
import time

from nanscope import _core
from nanscope.errors import ChildStop, Stop
from nanscope.ranks import replicas, together
from nanscope.ranks.board import board
from nanscope.run.conclusion import text_for, write_for
from nanscope.run.ending import REAL_EXIT, Ending, say
from nanscope.run.news import (
    bring,
    end_in_news,
    is_left_to_the_run,
    joined,
    process_of,
    stopped_in_news,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from nanscope.run.conclusion import Conclusion
    from nanscope.run.process import Watch

    T = TypeVar("T")

ERROR_FOUND = 3
STOPPED_WITH_OTHERS = "nanscope stopped the program: another rank found an error"
STARTED_AGAIN = "nanscope ends this rank, which was started again after an error was found"
NOBODY_REPORTED = "nanscope: another rank found an error, and has not told of it."


def despite_late_stop(act: Callable[[], T]) -> T:
    """Calls it; again, if another rank stopped this one just then, between two lines of ours."""
    try:
        return act()
    except (Stop, ChildStop):
        return act()


def settle_late_stop() -> None:
    """What another thread wants to raise here is raised by now, and means nothing any more."""
    for _ in range(2):
        try:
            together.listener.end()
            for _ in range(3):
                time.sleep(0)
        except (Stop, ChildStop):
            continue
        return


class RankEnd:
    """What a `Watch` does when its process is, or starts, a rank."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.started_again = False  # by a launcher, after an error was found

    # ---------------------------------------------------------------- the beginning
    def begin(self) -> None:
        """torch is there, and watched."""
        together.listener.stopped = self.others_stopped
        board.joined = self.joined
        board.counts_every_call = self.watch.observer.counts_every_call
        c10d = sys.modules.get("torch.distributed.distributed_c10d")
        made = getattr(c10d, "_update_default_pg", None)  # called when a process group was made
        if made is not None and not isinstance(made, _core.Around):
            c10d._update_default_pg = _core.Around(made, after=self._group_was_made)

    def forked(self) -> None:
        """In the child of a fork, which is no rank."""
        board.begin_anew()
        together.listener.forked()
        self.started_again = False

    def _group_was_made(self, result: object) -> object:
        board.join()
        return result

    def joined(self) -> None:
        """There is a store that is new. Never lets a fault of ours reach the program."""
        settings = self.watch.settings
        try:
            self.watch.observer.joined_ranks()
            if settings.is_child:
                joined(settings.news, settings.followed or f"rank.{os.getpid()}", board.own_rank())
            replicas.steps.count()
            self.started_again = board.was_stopped_before()
            if self.started_again:
                self._raise_in_main(STARTED_AGAIN)
            else:
                together.listener.begin()
        except Exception:
            pass  # it goes on, as a rank of which the others do not hear

    # ---------------------------------------------------------------- while it runs
    def others_stopped(self) -> None:
        """A rank has found an error: this one ends too. On the listener's thread."""
        watch = self.watch
        settings = watch.settings
        if watch.judging or watch.adapter is None or settings.on_error == "go_on" or settings.pdb:
            return
        if not watch.observer.error_found():
            self._raise_in_main(STOPPED_WITH_OTHERS)
        import threading

        main = threading.main_thread().ident
        if main is None or not together.stays_in_one_place(main, lambda: bool(watch.judging)):
            return
        # It waits in a collective for a rank that has gone.
        watch.signalled = True
        status = watch.judge(Ending("stopped", 0))
        REAL_EXIT(ERROR_FOUND if status is None else status)

    def _raise_in_main(self, sentence: str) -> None:
        import threading

        main = threading.main_thread().ident
        if main is not None:
            kind = ChildStop if self.watch.settings.is_spawned else Stop
            _core.raise_in_main(kind(sentence), main)

    # ---------------------------------------------------------------- the end
    def is_reported(self, conclusion: Conclusion, ending: Ending, found: bool) -> bool:
        """What this process found is a part of what all found, which is told once."""
        settings, capture = self.watch.settings, conclusion.capture
        if not together.is_one_of_many():
            if settings.followed:
                end_in_news(settings.news, capture, conclusion.path)
            return self._is_reported_of_children(conclusion)
        own = self._end(conclusion, ending)
        if settings.is_child:
            path, sentence = conclusion.path, own.sentence
            end_in_news(settings.news, capture, path, sentence, own.replicas)
        if self.started_again:
            return True
        if found and settings.on_error != "go_on":
            together.stop_others()  # also of an error that only the end shows
        if not (found or together.are_stopped()):
            own.write()  # who is not heard of is taken for killed
            return False
        return self._is_reported_with_others(conclusion, own)

    def _end(self, conclusion: Conclusion, ending: Ending) -> together.End:
        from nanscope.run import many

        settings, capture = self.watch.settings, conclusion.capture
        left_to_run = settings.is_child and is_left_to_the_run(settings.news)
        return together.End.of(
            capture,
            conclusion.path,
            many.sentence_on_end(capture, ending),
            replicas.of_this_rank(capture) if capture.error else None,
            f"{os.uname().nodename} {settings.news}" if left_to_run else "",
        )

    def _is_reported_with_others(self, conclusion: Conclusion, own: together.End) -> bool:
        from nanscope.run import many

        settings, capture = self.watch.settings, conclusion.capture
        if not own.launcher and settings.json != "-":
            # Before the others know of it: who tells of all may replace it.
            write_for(capture, conclusion.path, settings)
        own.write()
        if own.launcher:
            stopped_in_news(settings.news)
            self._bring_other_hosts(own)
            self._wait_for_run()
            return True
        if (capture.error or self._starts_ranks()) and together.is_teller():
            merged = many.of_ends(*together.ends_of_others(own), self.watch.news)
            self._tell(merged, conclusion)
            together.has_reported()
        elif not capture.error and self._has_children_with_errors():
            together.has_reported()
            return False  # a worker of its loader has found one, which is told with its own
        elif not together.wait_until_reported() and not settings.quiet:
            say(NOBODY_REPORTED)
        return True

    def _bring_other_hosts(self, own: together.End) -> None:
        """To the run that tells of this rank, what ranks of other launchers said."""
        if not together.has_other_hosts():
            return
        ends, _ = together.ends_of_others(own)
        for end in ends:
            if end.launcher != own.launcher:
                bring(self.watch.settings.news, end.to_bytes())
        together.leave_with_others(len(ends))

    def _wait_for_run(self) -> None:
        """A run that is itself a rank tells at its own end. A launcher inside it may kill it as
        soon as another rank is gone.
        """
        run = process_of(self.watch.settings.news)
        if board.is_rank(run):
            together.wait_until_reported()
            together.wait_for_end_of(run)

    def _starts_ranks(self) -> bool:
        news = self.watch.news
        return news is not None and any(rank is not None for _, rank in news.joined().values())

    def _has_children_with_errors(self) -> bool:
        return self.watch.news is not None and bool(self.watch.news.read())

    def _is_reported_of_children(self, conclusion: Conclusion) -> bool:
        """The process that started the ranks: it computes nothing itself."""
        news = self.watch.news
        if news is None or conclusion.capture.error:
            return False
        from nanscope.run import many

        merged = many.of_news(news)
        if merged is None:
            return False
        self._tell(merged, conclusion)
        return True

    def _tell(self, merged: _core.Capture | None, conclusion: Conclusion) -> None:
        settings, lines = self.watch.settings, list(conclusion.complaints)
        if merged is None:
            merged = conclusion.capture
        if not settings.quiet:
            lines += [text_for(merged, settings), *self.watch.observer.remarks_on_ranks()]
        if lines:
            say("\n".join(lines))
        write_for(merged, conclusion.path, settings)
