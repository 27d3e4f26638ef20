"""The watch over one process, from the import of torch to the end, which is reported once."""

from __future__ import annotations

import os
import shlex
import sys
import time
from _thread import get_ident

from nanscope import _core
from nanscope.errors import ChildStop, Stop
from nanscope.outside.arrivals import arrivals
from nanscope.ranks import together
from nanscope.ranks.board import board
from nanscope.run.conclusion import Conclusion, text_for, write_for
from nanscope.run.ending import REAL_EXIT, Ending, replaces_stop, say
from nanscope.run.imports import when_imported
from nanscope.run.news import (
    OF_CHILD,
    ChildrensErrors,
    end_in_news,
    is_left_to_the_run,
    joined_names,
)
from nanscope.run.observer import Observer
from nanscope.run.rank_end import ERROR_FOUND, RankEnd, settle_late_stop
from nanscope.run.stopping import at_harm
from nanscope.telling.allowances import allowances
from nanscope.telling.stack import display_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from nanscope.bad_batch.keeper import Keeper
    from nanscope.bad_batch.replayer import Replayer
    from nanscope.moments.held import Raised
    from nanscope.run.choice import Choice
    from nanscope.run.following import Following
    from nanscope.run.notices import Notices
    from nanscope.run.settings import Settings

STOPPED_CHILD = 1  # as after any exception that nobody caught
begun = False  # this process is watched as a whole
NO_TORCH = "nanscope: the program never imported torch; nothing was watched."
RAN_ON = (
    "nanscope stopped the program at the error, and it ran on: it caught the exception, "
    "or the error was in another thread."
)
IN_CHILD = "nanscope: an error in a child process, pid {}."
NOT_JOINED = "they ran without nanscope: another interpreter, or -I, -S or -E"


def _is_loader_worker() -> bool:
    data = sys.modules.get("torch.utils.data")
    return data is not None and data.get_worker_info() is not None


def _say_which_rank(conclusion: Conclusion) -> None:
    if together.is_one_of_many():
        conclusion.capture.rank = board.own_rank()
        conclusion.capture.world_size = board.world_size()
        if conclusion.path:
            conclusion.capture.write_end(conclusion.path)


class ExactRun(Observer):
    def connect(self, torch: ModuleType) -> None:
        from nanscope.moments import attach

        watch: Watch = self.stretch
        attach.connect_exact(torch, self.adapter, watch.settings, watch.choice)
        watch.connect_bad_batch(torch, self.adapter)


def observer_of(watch: Watch, adapter: ModuleType) -> Observer:
    if watch.settings.mode == "exact":
        return ExactRun(watch, adapter)
    from nanscope.sentinel.run import RunSentinel

    return RunSentinel(watch, adapter)


class Watch:
    """What this process does is watched, judged and reported."""

    model = None  # all modules count

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        allowances.give(settings.allow, settings.main_file)
        self.adapter: ModuleType | None = None
        self.problem: str | None = None
        self.torch_version = ""
        self.unwatched: dict[tuple[str, str], int] = {}  # (what, why): how often
        self.choice: Choice | None = None  # --layer, --file
        self.notices: Notices | None = None  # --notify
        self.keeper: Keeper | None = None  # --bad-batch
        self.replayer: Replayer | None = None  # nanscope replay
        self.news = None  # of children, in the process that began the run
        self.following: Following | None = None  # other Pythons that the program starts
        self.ranks = RankEnd(self)
        self.nothing_chosen: str | None = None  # a sentence
        self.judging = 0  # the thread that does
        self.judged = False
        self.signalled = False
        self.observer = Observer(self, None)  # of nothing, until torch is there
        self.status: int | None = None  # once it is judged: another than the program's own

    @property
    def error_status(self) -> int:
        return STOPPED_CHILD if self.settings.is_spawned else ERROR_FOUND

    # ---------------------------------------------------------------- before and during
    def begin(self) -> None:
        global begun
        begun = True
        arrivals.begin(self.settings.main_file)
        when_imported("numpy", arrivals.numpy_imported)
        when_imported("pandas", arrivals.readers.of_pandas)
        if self.settings.eager:
            from nanscope.compiled import eager

            eager.switch_off()
        when_imported("torch", self.torch_imported)
        if self.settings.notify:
            from nanscope.run.notices import Notices

            self.notices = Notices(self)
            self.notices.begin()

    def torch_imported(self, torch: ModuleType) -> None:
        """Never lets a fault of ours reach the program."""
        self.torch_version = torch.__version__
        try:
            if self.settings.layer or self.settings.file:
                from nanscope.run import choice

                self.choice = choice.of(self.settings)
            from nanscope.moments import attach

            adapter = attach.load(torch)
            if isinstance(adapter, str):
                self.problem = adapter
                return
            observer = self.observer_of(adapter)
            observer.connect(torch)
            self.adapter, self.observer = adapter, observer
            arrivals.readers.of_torch(torch)
            self.begin_session(os.getpid())
            _core.have_last_words(self.last_words)
            self.ranks.begin()
            observer.begin()
        except Exception as error:
            self.problem = f"nanscope could not attach itself to torch: {error!r}"

    def connect_bad_batch(self, torch: ModuleType, adapter: ModuleType) -> None:
        """What --bad-batch keeps, and what `nanscope replay` puts in place of the program's own."""
        if self.settings.bad_batch:
            from nanscope.bad_batch.keeper import Keeper

            self.keeper = Keeper(self.settings, adapter)
            self.keeper.connect(torch)
            at_harm.append(self.keeper.harm_done)
        if self.settings.replay:
            from nanscope.bad_batch.replayer import Replayer

            self.replayer = Replayer(self.settings.replay, adapter)
            self.replayer.connect(torch)

    def observer_of(self, adapter: ModuleType) -> Observer:
        return observer_of(self, adapter)

    def begin_session(self, pid: int, replays: bool = False) -> None:
        """In a replay it is that of the run, whose `pid` it has; its capture stays in memory."""
        settings = self.settings
        if replays:
            settings.be_of_a_replay()
            self.news = None
        options = self.adapter.SessionOptions(
            capture="" if replays else settings.capture_path(),
            overwrite=settings.force,
            keep_capture=bool(settings.output) and not settings.is_child,
            on_error=settings.on_error,
            strict=settings.strict,
            news=settings.news if settings.is_child else "",
            handed=settings.handed,
            argv=settings.argv,
            python=sys.version.split()[0],
            torch=self.torch_version,
            host=os.uname().nodename,
            pid=pid,
            mode=settings.mode,
        )
        self.adapter.begin(options)
        shown = display_path(settings.file) if settings.file else ""
        self.adapter.keep_to(settings.layer, shown)

    def forked(self) -> None:
        """In the child of a fork: a watch of its own."""
        if not self.observer.forked():
            return  # a snapshot: what it watches, if ever, is the run
        self.settings.is_child = True
        self.settings.stop_raised = False
        self.ranks.forked()
        arrivals.other_processes = True
        self.settings.json = self.settings.html = ""
        self.settings.force = False
        self.news = self.notices = self.keeper = self.replayer = None
        at_harm.clear()
        self.unwatched.clear()
        if self.following is not None:
            self.following.started.clear()
        allowances.forget_counts()
        self.judging = 0
        self.judged = False
        self.status = None
        adapter = self.adapter
        if adapter is None:
            return
        path = self.settings.capture_path()
        if not adapter.fork_ended_in_child(path, self.settings.news, os.getpid()):
            self.adapter = None  # forked from inside our own work
            return
        _core.last_words_in_child()

    # ---------------------------------------------------------------- the end
    def judge(self, ending: Ending, raised: Raised | None = None) -> int | None:
        """What is known is judged and reported; the exit status, or None for the program's own.

        `raised`: of an exception that is gone.
        """
        if self.judging:
            self._leave_it_to_the_other()
            return self.status
        self.judging = get_ident()
        settle_late_stop()
        try:
            # The end has no place in the source: not that of whoever calls us here.
            self.status = _core.call_hidden(self._judge, ending, raised)
        except (Exception, KeyboardInterrupt) as error:
            if isinstance(error, Exception):
                say(f"nanscope could not tell what it found, a fault of its own: {error!r}")
            found = self.adapter is not None and self.observer.error_found()
            self.status = self._status(found, ending)
        if self.observer.replays:
            REAL_EXIT(1)  # it could not tell, and is not to run the program's atexit
        self.judged = True
        _core.no_last_words()
        return self.status

    def _leave_it_to_the_other(self) -> None:
        """Another thread has the last words and then ends the process; this one is not to run on
        into an interpreter that is torn down.
        """
        while self.signalled and self.judging != get_ident():
            time.sleep(0.1)

    def _judge(self, ending: Ending, raised: Raised | None) -> int | None:
        if self.adapter is None:
            return self._nothing_watched(ending)
        conclusion = self.conclude(ending, raised)
        _say_which_rank(conclusion)
        children = self._children(at_the_end=True)
        found = conclusion.capture.error or bool(children)
        if found:
            from nanscope.run import proposal  # its imports are for a program that had an error

            proposal.add_to(conclusion, self.settings)
        if self.ranks.is_reported(conclusion, ending, found):
            return self.error_status
        self._show(conclusion, ending, children)
        write_for(conclusion.capture, conclusion.path, self.settings)
        if found and self.keeper is not None:
            self.keeper.write(conclusion.capture)
        if found and self.notices is not None:
            self.notices.tell_all(conclusion.capture, children)
        if self.replayer is not None:
            return self.replayer.conclude(conclusion.capture)
        return self._status(found, ending)

    def conclude(self, ending: Ending, raised: Raised | None) -> Conclusion:
        """Ends the session."""
        from nanscope.moments import held, left_loops

        left_loops.stop()
        ours = ending.kind == "stopped" and self.observer.error_found()
        error = ending.exception if ending.exception is not None else ending.exit
        if error is not None and not ours:
            raised = held.Raised(error, self.settings.main_file)
        error = ending.exit = None  # the locals of a program that has exited are gone
        return self.observer.conclude(ending, raised, ours)

    def _status(self, found: bool, ending: Ending) -> int | None:
        """A child's status is between it and its parent: a DataLoader fails at once if a worker
        ends with another than 0. But one that we stopped did not do its work, and does not say so.
        The run ends with 3, whoever found the error.
        """
        if not self.settings.is_spawned:
            return ERROR_FOUND if found else None
        stopped = ending.kind == "stopped" or self.swallowed_a_stop
        return STOPPED_CHILD if found and stopped and not ending.status else None

    def _children(self, at_the_end: bool = False) -> list[tuple[int, str]]:
        """Those that found an error."""
        if self.news is None:
            return []
        if at_the_end:
            self.news.close()
        return self.news.read()

    def held(self) -> list[tuple[str, object]]:
        """What the program holds; a tensor without a name only if values are known to be bad."""
        from nanscope.moments import held

        return held.tensors_of_the_program(unnamed=self.adapter.knows_bad_values())

    def before_finish(self) -> None:
        if self.choice is not None and not self.adapter.error_found():
            self.nothing_chosen = self.choice.problem()

    def finish(self, ending: Ending) -> Conclusion:
        children = self._children()
        status = self._status(self.adapter.error_found() or bool(children), ending)
        ending = Ending(ending.kind, ending.status if status is None else status)
        return Conclusion.of_session(self.adapter, ending, self._not_watched(children))

    def _show(
        self, conclusion: Conclusion, ending: Ending, children: list[tuple[int, str]]
    ) -> None:
        settings, capture = self.settings, conclusion.capture
        lines = list(conclusion.complaints)
        if self.nothing_chosen:
            lines.append(f"nanscope: {self.nothing_chosen}: all of the program was left out.")
        stopped = self.adapter.stops() and settings.on_error == "stop"
        if stopped and ending.kind != "stopped" and not settings.is_child:
            lines.append(RAN_ON)
        quiet = settings.quiet or (settings.is_child and self._leaves_telling(capture))
        if not quiet:
            if settings.is_child:
                lines.append(IN_CHILD.format(os.getpid()))
            lines.append(text_for(capture, settings))
            if conclusion.path:
                path = display_path(conclusion.path)
                lines.append(f"Capture: {path}")
                if capture.error and not settings.is_child:
                    lines.append(f"Next: nanscope fix --from {shlex.quote(path)}")
            lines += self.observer.remarks()
        if not quiet and self.news is not None:
            lines += self.news.summaries_of_ranks()
        errors = ChildrensErrors(children, capture)
        if not quiet:
            lines += errors.texts(settings)
        lines += errors.lines()
        if lines:
            say("\n".join(lines))  # at once: other processes write there too

    def _leaves_telling(self, capture: _core.Capture) -> bool:
        """A child has nothing to say, or is a worker of a data loader: what it made goes to the
        run, where it does harm; the run tells both at once.
        """
        if not capture.error:
            return True
        return _is_loader_worker() and is_left_to_the_run(self.settings.news)

    def _nothing_watched(self, ending: Ending) -> int | None:
        if self.settings.followed:
            end_in_news(self.settings.news, self._empty_capture(ending, []), "")
        if self.settings.is_child:
            return None
        children = self._children()
        for pid, path in children:
            say(OF_CHILD.format(pid, display_path(path)))
        if self.problem is not None:
            say(self.problem)
        elif not self.settings.quiet and not children:
            say(NO_TORCH)
        write_for(self._empty_capture(ending, children), "", self.settings)
        return ERROR_FOUND if children else None

    def _empty_capture(self, ending: Ending, children: list[tuple[int, str]]) -> _core.Capture:
        gaps = self._not_watched(children)
        if self.problem is not None:
            gaps.append(("all of torch", self.problem, 1))
        return _core.Capture.unwatched(
            argv=self.settings.argv,
            python=sys.version.split()[0],
            torch=self.torch_version,
            host=os.uname().nodename,
            pid=os.getpid(),
            exit_status=ERROR_FOUND if children else ending.status,
            ended=ending.kind,
            gaps=gaps,
        )

    def _not_watched(self, children: list[tuple[int, str]]) -> list[tuple[str, str, int]]:
        """What ran where no kernel of ours could see it."""
        gaps = [(what, why, count) for (what, why), count in self.unwatched.items()]
        gaps += self.observer.gaps()
        gaps += self._not_joined()
        if self.nothing_chosen:
            gaps.append(("all of the program", self.nothing_chosen, 1))
        if children:
            names = ", ".join(display_path(path) for _, path in children[:4])
            gaps.append((_core.CHILDREN_WITH_ERRORS, names, len(children)))
        from nanscope.compiled import attach as compiled

        return gaps + compiled.gaps()

    def _not_joined(self) -> list[tuple[str, str, int]]:
        """Other Pythons that were started and never said that they are watched."""
        if self.following is None or not self.following.started:
            return []
        names = joined_names(self.settings.news)
        missing = sum(name not in names for name in self.following.started)
        gaps = [("other Python processes", NOT_JOINED, missing)] if missing else []
        return gaps if self.news is None else gaps + self.news.gaps()

    # ---------------------------------------------------------------- ends of other kinds
    def last_words(self, signal_number: int) -> int | None:
        """A signal ends the process, on a thread of its own; the status, or None: of the signal."""
        if self.judging:
            while not self.judged:
                time.sleep(0.01)
            return self.status
        self.signalled = True
        return self.judge(Ending("signal", 128 + signal_number))

    def exits(self, status: object = 0, *_: object) -> None:
        """`os._exit`: nothing else runs after it."""
        if self.judged and self.status:
            REAL_EXIT(self.status)  # by an atexit callback of the program
        if self.judging or not isinstance(status, int):
            return
        stopped = replaces_stop(sys.exc_info()[1], (Stop, ChildStop)) or self.swallowed_a_stop
        found = self.judge(Ending("stopped" if stopped else "normally", status & 0xFF))
        if found is not None:
            REAL_EXIT(found)

    @property
    def swallowed_a_stop(self) -> bool:
        """This child was stopped and ran on. A loader's worker has handed that to its parent, which
        takes another status than 0 for an accident of its own.
        """
        return self.settings.stop_raised and not _is_loader_worker()
