"""The sentinel of `nanscope run --mode sentinel`: what the watch over a process asks of it."""

from __future__ import annotations

import os

from nanscope import _core
from nanscope.moments import held
from nanscope.run.ending import Ending
from nanscope.run.stopping import STOPPED, Stopping, sentence_of
from nanscope.sentinel.end import suspicion
from nanscope.sentinel.looks import Sentinel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from nanscope.run.process import Watch
    from nanscope.sentinel.answers import Answer


class RunSentinel:
    """A `Host`. In a woken snapshot it is the host of the replay."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.settings = watch.settings
        self.adapter: ModuleType | None = None
        self.sentinel: Sentinel | None = None

    def begin(self, adapter: ModuleType) -> None:
        self.adapter = adapter
        settings = self.settings
        quiet = settings.quiet or settings.is_child
        self.sentinel = Sentinel(adapter, self, settings.snapshot_every, quiet)
        os.wait = _core.Around(os.wait, before=self._waits_for_any)
        os.waitpid = _core.Around(os.waitpid, before=self._waits)
        self.sentinel.begin()
        self.sentinel.due()

    def before_workers(self, _: object) -> None:
        if self.looks():
            self.sentinel.before_workers()

    @property
    def replay(self):
        return self.sentinel.replay if self.sentinel is not None else None

    def looks(self) -> bool:
        """Nothing is watched but once a step: the end is to be looked at, too."""
        sentinel = self.sentinel
        return sentinel is not None and sentinel.replay is None and sentinel.exact_from is None

    def forked(self) -> bool:
        """In a child; False: it is a snapshot."""
        sentinel = self.sentinel
        if sentinel is None:
            return True
        if sentinel.snapshots.forking:
            self.adapter.fork_ended()
            return False
        if sentinel.replay is not None:  # a worker of a replay
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

    # ---------------------------------------------------------------- a replay
    def watch_exactly(self, run: int = 0, capture: str = "") -> None:
        adapter, settings = self.adapter, self.settings
        if run:
            settings.on_error, settings.pdb, settings.force, settings.output = (
                "stop",
                False,
                False,
                "",
            )
            settings.json, settings.news = "", ""
            self.watch.begin_session(run, capture)
        adapter.install()
        adapter.take_over(missed=not run)
        adapter.watch(True)

    def exception_for(self, number: int | None) -> BaseException | None:
        if self.replay is not None and number is not None:
            self.replay.error()
        return Stopping(self.settings, self.adapter)(number)

    def judged_in_replay(self, kind: str, ended: bool = False) -> dict:
        adapter = self.adapter
        adapter.watch(False)
        if ended:
            held.tell_program_end(adapter, None, 0)
        return self.watch.finish(3 if adapter.error_found() else 0, kind, [])

    def judged(self, told: dict, raised: held.Raised | None) -> None:
        """A replay came to the end of the program."""
        if self.replay is not None:
            self.replay.send(told, raised.text if raised is not None else "")

    # ---------------------------------------------------------------- answers
    def exception_for_answer(self, answer: Answer) -> BaseException | None:
        from nanscope.errors import ChildStop, NonFiniteError, Stop
        from nanscope.findings import Finding

        self._write_capture(answer)
        on_error, child = self.settings.on_error, self.settings.is_child
        if on_error == "go_on":
            return None
        if on_error == "stop" and not child:
            return Stop(STOPPED)
        sentence, finding = sentence_of(answer.error), Finding.from_json(answer.error)
        if on_error == "stop":
            return ChildStop(sentence, finding)
        if self.settings.pdb and not child:
            from nanscope.run import debugger

            return debugger.open_at_the_users_frame(sentence)
        return NonFiniteError(sentence, finding)

    def _write_capture(self, answer: Answer) -> None:
        """On disk before the program runs on."""
        answer.told["capture"] = ""
        if not answer.capture:
            return
        path = self.settings.capture_path()
        try:
            flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if self.settings.force else os.O_EXCL)
            with open(os.open(path, flags, 0o644), "wb") as file:
                file.write(answer.capture)
            answer.told["capture"] = path
        except OSError as error:
            answer.told["complaints"] = [f"{path} could not be written: {error.strerror}."]
        if self.settings.is_child:
            self._tell_the_run(answer.told["capture"] or "-")

    def _tell_the_run(self, capture: str) -> None:
        try:
            with open(self.settings.news, "ab", buffering=0) as news:
                news.write(f"{os.getpid()} {capture}\n".encode("utf-8", "surrogateescape"))
        except OSError:
            pass  # the run is gone; the capture is there

    # ---------------------------------------------------------------- the end
    def error_found(self) -> bool:
        return self.sentinel is not None and self.sentinel.answer is not None

    def remarks(self) -> list[str]:
        return self.sentinel.remarks if self.sentinel is not None else []

    def gaps(self) -> list[tuple[str, str, int]]:
        if self.sentinel is None:
            return []
        gaps = list(self.sentinel.gaps)
        return gaps + (self.replay.gaps() if self.replay is not None else [])

    def at_end(self, ending: Ending, raised: held.Raised | None) -> dict | None:
        """What a replay told of it; None: nothing is wrong, or nobody knows."""
        sentinel = self.sentinel
        if sentinel.answer is None:
            why = suspicion(self.adapter, ending, raised, held.tensors_of_the_program)
            answer = sentinel.at_end(why, ending.kind == "signal") if why else None
            if answer is not None and answer.error is not None:
                self._write_capture(answer)
        else:
            answer = sentinel.answer
            answer.ended(ending.kind)
        self.adapter.take_over()
        sentinel.end()
        return answer.told if answer is not None else None
