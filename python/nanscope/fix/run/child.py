"""One run of the program, in a process of its own: `python -m nanscope.fix.run.child PLAN`.

The plan is a JSON file; the answer goes to the file that it names.
"""

from __future__ import annotations

import json
import os
import sys

from nanscope import _core
from nanscope.errors import ChildStop, Stop
from nanscope.fix.run import sandbox
from nanscope.fix.run.overlay import Overlay, write_over
from nanscope.fix.run.probe import Probe
from nanscope.fix.run.recorder import Recorder
from nanscope.moments import attach
from nanscope.run import program
from nanscope.run.children import Children, News
from nanscope.run.process import Watch
from nanscope.run.settings import Settings
from nanscope.run.stopping import STOPPED

NOT_STARTED = 126  # of this process: it could not go where its writes are harmless


class RepeatWatch(Watch):
    """Watches as `run` does; the answer is a file, and nothing is printed."""

    def __init__(self, settings: Settings, recorder: Recorder, probe: Probe, answer: str) -> None:
        super().__init__(settings)
        self.recorder = recorder
        self.probe = probe
        self.answer = answer
        self.owner = os.getpid()

    def torch_imported(self, torch) -> None:
        self.torch_version = torch.__version__
        adapter = attach.load(torch)
        if isinstance(adapter, str):
            self.problem = adapter
            return
        attach.connect(torch, adapter, self.settings.main_file, self._exception_for)
        adapter.install()
        self.adapter = self.probe.adapter = adapter
        self.recorder.attach(torch, adapter)
        adapter.watch(True)
        self.begin_session(os.getpid(), self.settings.capture_path())
        _core.have_last_words(self.last_words)

    def _exception_for(self, number: int | None) -> BaseException | None:
        self.recorder.error()
        if not self.recorder.stop_at_error:
            return None
        return ChildStop(STOPPED) if self.settings.is_child else Stop(STOPPED)

    def _judge(self, ending, raised) -> int | None:
        if os.getpid() != self.owner:
            return super()._judge(ending, raised)
        told = {"ended": ending.kind, "status": ending.status, **self.recorder.told()}
        told["places"] = self.probe.told()
        told["problem"] = self.problem or ""
        if self.adapter is None:
            told["report"] = None
        else:
            # After the first error the watch was off: what is known is all there is to judge.
            stopped = self.adapter.error_found() or self.recorder.reached_limit
            if stopped and ending.kind != "exception":
                ending = type(ending)("stopped", 0)
            report = self._report(ending, raised)
            told["report"] = json.loads(report["json"])
            told["capture"] = report["capture"]
        if ending.exception is not None:
            told["exception"] = f"{type(ending.exception).__name__}: {ending.exception}"[:300]
        with open(self.answer, "w", encoding="utf-8") as file:
            json.dump(told, file)
        return None

    def _report(self, ending, raised) -> dict:
        from nanscope.moments import held

        adapter = self.adapter
        adapter.watch(False)
        if not adapter.error_found():  # an exception behind it is of values that nobody watched
            if ending.exception is not None and ending.kind != "stopped":
                raised = held.Raised(ending.exception)
            held.tell_program_end(adapter, raised, ending.status)
        children = self.news.read() if self.news is not None else []
        return adapter.finish(ending.status, ending.kind, self._not_watched(children), False, False)


def _texts(told: dict[str, str]) -> dict[str, bytes]:
    return {path: bytes.fromhex(data) for path, data in told.items()}


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        plan = json.load(file)
    if plan["sandbox"]:
        try:
            sandbox.enter(plan["exchange"])
        except (sandbox.NotPossible, OSError) as error:
            print(f"nanscope: {error}", file=sys.stderr)
            sys.exit(NOT_STARTED)
        write_over(_texts(plan["written"]))
    overlay = Overlay(_texts(plan["overlay"]))
    overlay.install()
    probe = Probe(plan["widens"], plan["second_order"])
    sys.modules["builtins"].__nanscope__ = probe
    recorder = Recorder(plan["steps_after"], plan["last_step"], plan["stop_at_error"])
    settings = Settings(**plan["settings"])
    watch = RepeatWatch(settings, recorder, probe, plan["answer"])
    watch.news = News()
    settings.news = watch.news.path
    watch.begin()
    Children(watch).follow()
    how = {"stop_type": (Stop, ChildStop), "call": _core.call_hidden}
    target, args = plan["target"], plan["args"]
    sys.orig_argv[0] = plan["launcher"]
    if plan["kind"] == "module":
        ending = program.run_module(target, args, **how)
    else:
        from nanscope.telling.source import keeper

        ending = program.run_script(
            target, args, **how, remember=keeper.remember, instead=overlay.get
        )
    watch.judge(ending)
    program.leave(ending)


if __name__ == "__main__":
    main()
