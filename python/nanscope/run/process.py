"""The watch over one process, from the import of torch to the end, which is told once."""

from __future__ import annotations

import os
import sys
import time
from _thread import get_ident

from nanscope import _core
from nanscope.run.ending import REAL_EXIT, Ending, say, write_json
from nanscope.run.imports import when_imported
from nanscope.telling.stack import display_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from nanscope.moments.held import Raised
    from nanscope.run.choice import Choice
    from nanscope.run.settings import Settings
    from nanscope.sentinel.run import RunSentinel

ERROR_FOUND = 3
begun = False  # this process is watched as a whole
NO_TORCH = "nanscope: the program never imported torch; nothing was watched."
RAN_ON = (
    "nanscope stopped the program at the error, and it ran on: it caught the exception, "
    "or the error was in another thread."
)
IN_CHILD = "nanscope: an error in a child process, pid {}."
OF_CHILD = "nanscope: a child process, pid {}, found an error: {}"


class Watch:
    """What this process does is watched, judged and told."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.adapter: ModuleType | None = None
        self.problem: str | None = None
        self.torch_version = ""
        self.unwatched: dict[tuple[str, str], int] = {}  # (what, why): how often
        self.choice: Choice | None = None  # --layer, --file
        self.news = None  # of children, in the process that began the run
        self.nothing_chosen: str | None = None  # a sentence
        self.judging = 0  # the thread that does
        self.judged = False
        self.signalled = False
        self.sentinel: RunSentinel | None = None
        self.status: int | None = None  # once it is judged: another than the program's own

    # ---------------------------------------------------------------- before and during
    def begin(self) -> None:
        global begun
        begun = True
        when_imported("torch", self.torch_imported)

    def torch_imported(self, torch: ModuleType) -> None:
        """Never lets a fault of ours reach the program."""
        self.torch_version = torch.__version__
        try:
            if self.settings.layer or self.settings.file:
                from nanscope.run import choice

                self.choice = choice.of(self.settings)
            answer = self._attach(torch)
            if isinstance(answer, str):
                self.problem = answer
                return
            self.adapter = answer
            self.begin_session(os.getpid(), self.settings.capture_path())
            _core.have_last_words(self.last_words)
            if self.sentinel is not None:
                self.sentinel.begin(answer)
        except Exception as error:
            self.problem = f"nanscope could not attach itself to torch: {error!r}"

    def _attach(self, torch: ModuleType) -> ModuleType | str:
        from nanscope.moments import attach

        if self.settings.mode == "exact":
            return attach.attach(torch, self.settings, self.choice)
        from nanscope.sentinel.run import RunSentinel

        self.sentinel = sentinel = RunSentinel(self)
        return attach.attach_sentinel(
            torch, self.settings, sentinel.exception_for, sentinel.before_workers
        )

    def begin_session(self, pid: int, capture: str) -> None:
        settings = self.settings
        self.adapter.begin(
            capture,
            settings.force,
            bool(settings.output) and not settings.is_child,
            settings.on_error,
            settings.strict,
            settings.news if settings.is_child else "",
            settings.argv,
            sys.version.split()[0],
            self.torch_version,
            os.uname().nodename,
            pid,
            mode=settings.mode,
        )
        shown = display_path(settings.file) if settings.file else ""
        self.adapter.keep_to(settings.layer, shown)

    def forked(self) -> None:
        """In the child of a fork: a watch of its own."""
        if self.sentinel is not None and not self.sentinel.forked():
            return  # a snapshot: what it watches, if ever, is the run
        self.settings.is_child = True
        self.settings.json = ""
        self.settings.force = False
        self.news = None
        self.unwatched.clear()
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
        """What is known is judged and told; the exit status, or None for the program's own.

        `raised`: of an exception that is gone.
        """
        if self.judging:
            self._leave_it_to_the_other()
            return self.status
        self.judging = get_ident()
        try:
            # The end has no place in the source: not that of whoever calls us here.
            self.status = _core.call_hidden(self._judge, ending, raised)
        except (Exception, KeyboardInterrupt) as error:
            if isinstance(error, Exception):
                say(f"nanscope could not tell what it found, a fault of its own: {error!r}")
            found = self.adapter is not None and self._error_found()
            self.status = ERROR_FOUND if found and not self.settings.is_child else None
        if self.sentinel is not None and self.sentinel.replay is not None:
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
        from nanscope.moments import held

        adapter = self.adapter
        if adapter is None:
            return self._nothing_watched(ending)
        ours = ending.kind == "stopped" and self._error_found()
        if ending.exception is not None and not ours:
            raised = held.Raised(ending.exception)
        if self.sentinel is not None and self.sentinel.looks():
            return self._judge_looks(ending, raised)
        adapter.watch(False)
        if not ours:
            held.tell_program_end(adapter, raised, ending.status)
        if self.choice is not None and not adapter.error_found():
            self.nothing_chosen = self.choice.problem()
        children = self.news.read() if self.news is not None else []
        found = adapter.error_found() or bool(children)
        # A child's status is between it and its parent: a DataLoader fails at once if a worker ends
        # with another than 0. The run ends with 3, whoever found the error.
        status = ERROR_FOUND if found and not self.settings.is_child else None
        told = self.finish(ending.status if status is None else status, ending.kind, children)
        if self.sentinel is not None:
            self.sentinel.judged(told, raised)
        if found:
            self._propose(told)
        self._tell(told, ending, children)
        write_json(self.settings.json, told["json"])
        return status

    def finish(self, status: int, kind: str, children: list[tuple[int, str]]) -> dict:
        gaps, settings = self._not_watched(children), self.settings
        return self.adapter.finish(status, kind, gaps, settings.verbose, settings.color)

    def _judge_looks(self, ending: Ending, raised: Raised | None) -> int | None:
        """The program was looked at once a step; a replay may have an answer."""
        children = self.news.read() if self.news is not None else []
        told = self.sentinel.at_end(ending, raised)
        found = bool(children) or (told is not None and told["error"])
        status = ERROR_FOUND if found and not self.settings.is_child else None
        if told is None:
            told = self.finish(ending.status if status is None else status, ending.kind, children)
        if found:
            self._propose(told)
        self._tell(told, ending, children)
        write_json(self.settings.json, told["json"])
        return status

    def _propose(self, told: dict) -> None:
        from nanscope.run import proposal  # its imports are not for a program that had no error

        proposal.add_to(told, self.settings)

    def _error_found(self) -> bool:
        answered = self.sentinel is not None and self.sentinel.error_found()
        return answered or self.adapter.error_found()

    def _tell(self, told: dict, ending: Ending, children: list[tuple[int, str]]) -> None:
        lines = list(told["complaints"])
        if self.nothing_chosen:
            lines.append(f"nanscope: {self.nothing_chosen}: all of the program was left out.")
        stopped = self.adapter.stops() and self.settings.on_error == "stop"
        if stopped and ending.kind != "stopped" and not self.settings.is_child:
            lines.append(RAN_ON)
        quiet = self.settings.quiet or (self.settings.is_child and not told["error"])
        if not quiet:
            if self.settings.is_child:
                lines.append(IN_CHILD.format(os.getpid()))
            lines.append(told["text"].rstrip("\n"))
            if told["capture"]:
                lines.append(f"Capture: {display_path(told['capture'])}")
            if self.sentinel is not None:
                lines += self.sentinel.remarks()
        lines += [OF_CHILD.format(pid, display_path(path)) for pid, path in children]
        if lines:
            say("\n".join(lines))  # at once: other processes write there too

    def _nothing_watched(self, ending: Ending) -> int | None:
        if self.settings.is_child:
            return None
        children = self.news.read() if self.news is not None else []
        for pid, path in children:
            say(OF_CHILD.format(pid, display_path(path)))
        if self.problem is not None:
            say(self.problem)
        elif not self.settings.quiet and not children:
            say(NO_TORCH)
        if self.settings.json:
            write_json(self.settings.json, self._empty_report(ending, children))
        return ERROR_FOUND if children else None

    def _empty_report(self, ending: Ending, children: list[tuple[int, str]]) -> str:
        from nanscope.run import empty_report

        gaps = self._not_watched(children)
        if self.problem is not None:
            gaps.append(("all of torch", self.problem, 1))
        status = ERROR_FOUND if children else ending.status
        return empty_report.text(self.settings, self.torch_version, ending, status, gaps)

    def _not_watched(self, children: list[tuple[int, str]]) -> list[tuple[str, str, int]]:
        """What ran where no kernel of ours could see it."""
        gaps = [(what, why, count) for (what, why), count in self.unwatched.items()]
        if self.sentinel is not None:
            gaps += self.sentinel.gaps()
        if self.nothing_chosen:
            gaps.append(("all of the program", self.nothing_chosen, 1))
        if children:
            names = ", ".join(display_path(path) for _, path in children[:4])
            gaps.append(("child processes with errors of their own", names, len(children)))
        dynamo = sys.modules.get("torch._dynamo.utils")
        compiled = dynamo.counters["frames"]["ok"] if dynamo is not None else 0
        if compiled:
            why = "torch.compile fuses ops into kernels of its own"
            gaps.append(("compiled regions", why, compiled))
        return gaps

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
        if self.judging or not isinstance(status, int):
            return
        found = self.judge(Ending("normally", status & 0xFF))
        if found is not None:
            REAL_EXIT(found)
