"""The watch over one process, from the import of torch to the end, which is told once."""

from __future__ import annotations

import os
import sys

from nanscope import _core
from nanscope.ending import Ending, say
from nanscope.imports import when_imported
from nanscope.stack import display_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from nanscope.choice import Choice
    from nanscope.held import Raised
    from nanscope.settings import Settings

ERROR_FOUND = 3
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
        self.judging = self.judged = False
        self.status: int | None = None  # once it is judged: another than the program's own

    # ---------------------------------------------------------------- before and during
    def begin(self) -> None:
        when_imported("torch", self.torch_imported)

    def torch_imported(self, torch: ModuleType) -> None:
        """Never lets a fault of ours reach the program."""
        self.torch_version = torch.__version__
        try:
            from nanscope.attach import attach

            if self.settings.layer or self.settings.file:
                from nanscope import choice

                self.choice = choice.of(self.settings)
            answer = attach(torch, self.settings, self.choice)
            if isinstance(answer, str):
                self.problem = answer
                return
            self.adapter = answer
            self._begin_session(torch)
            _core.have_last_words(self.last_words)
        except Exception as error:
            self.problem = f"nanscope could not attach itself to torch: {error!r}"

    def _begin_session(self, torch: ModuleType) -> None:
        settings = self.settings
        self.adapter.begin(
            settings.capture_path(),
            settings.force,
            bool(settings.output) and not settings.is_child,
            settings.on_error,
            settings.strict,
            settings.news if settings.is_child else "",
            settings.argv,
            sys.version.split()[0],
            torch.__version__,
            os.uname().nodename,
            os.getpid(),
        )
        shown = display_path(settings.file) if settings.file else ""
        self.adapter.keep_to(settings.layer, shown)

    def forked(self) -> None:
        """In the child of a fork: a watch of its own."""
        self.settings.is_child = True
        self.settings.json = ""
        self.settings.force = False
        self.news = None
        self.unwatched.clear()
        self.judging = self.judged = False
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
            return self.status
        self.judging = True
        try:
            # The end has no place in the source: not that of whoever calls us here.
            self.status = _core.call_hidden(self._judge, ending, raised)
        except (Exception, KeyboardInterrupt) as error:
            if isinstance(error, Exception):
                say(f"nanscope could not tell what it found, a fault of its own: {error!r}")
            found = self.adapter is not None and self.adapter.error_found()
            self.status = ERROR_FOUND if found and not self.settings.is_child else None
        self.judged = True
        _core.no_last_words()
        return self.status

    def _judge(self, ending: Ending, raised: Raised | None) -> int | None:
        from nanscope import held

        adapter = self.adapter
        if adapter is None:
            return self._nothing_watched(ending)
        adapter.watch(False)
        if not (ending.kind == "stopped" and adapter.error_found()):
            error = ending.exception
            if error is not None:
                raised = held.Raised(error)
            adapter.program_ended(
                raised is not None,
                raised.blunder if raised else False,
                ending.status,
                raised.text if raised else "",
                raised.tensors if raised else [],
                held.tensors_of_the_program(),
                raised.stack if raised else [],
            )
        if self.choice is not None and not adapter.error_found():
            self.nothing_chosen = self.choice.problem()
        children = self.news.read() if self.news is not None else []
        found = adapter.error_found() or bool(children)
        # A child's status is between it and its parent: a DataLoader fails at once if a worker ends
        # with another than 0. The run ends with 3, whoever found the error.
        status = ERROR_FOUND if found and not self.settings.is_child else None
        told = adapter.finish(
            ending.status if status is None else status,
            ending.kind,
            self._not_watched(children),
            self.settings.verbose,
            self.settings.color,
        )
        self._tell(told, ending, children)
        self._write_json(told["json"])
        return status

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
            self._write_json(self._empty_report(ending, children))
        return ERROR_FOUND if children else None

    def _empty_report(self, ending: Ending, children: list[tuple[int, str]]) -> str:
        from nanscope import empty_report

        gaps = self._not_watched(children)
        if self.problem is not None:
            gaps.append(("all of torch", self.problem, 1))
        status = ERROR_FOUND if children else ending.status
        return empty_report.text(self.settings, self.torch_version, ending, status, gaps)

    def _not_watched(self, children: list[tuple[int, str]]) -> list[tuple[str, str, int]]:
        """What ran where no kernel of ours could see it."""
        gaps = [(what, why, count) for (what, why), count in self.unwatched.items()]
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

    def _write_json(self, text: str) -> None:
        if self.settings.json == "-":
            try:
                sys.stdout.write(text)
                sys.stdout.flush()
            except (OSError, ValueError, AttributeError):
                pass  # closed: the program's own affair
        elif self.settings.json:
            try:
                with open(self.settings.json, "w", encoding="utf-8") as file:
                    file.write(text)
            except OSError as error:
                say(f"{self.settings.json} could not be written: {error.strerror}.")

    # ---------------------------------------------------------------- ends of other kinds
    def last_words(self, signal_number: int) -> int | None:
        """A signal ends the process, on a thread of its own; the status, or None: of the signal."""
        if self.judging:
            import time

            while not self.judged:
                time.sleep(0.01)
            return self.status
        return self.judge(Ending("signal", 128 + signal_number))

    def exits(self, status: object = 0, *_: object) -> None:
        """`os._exit`: nothing else runs after it."""
        if self.judging or not isinstance(status, int):
            return
        found = self.judge(Ending("normally", status & 0xFF))
        if found is not None:
            REAL_EXIT(found)


REAL_EXIT = os._exit
