"""Runs the program once, in a process of its own: `python -m nanscope.fix.run.child PLAN`.

The plan is a file of JSON (messages.py); the answer goes to the file that it names.
"""

from __future__ import annotations

import os
import sys

from nanscope import _core
from nanscope.errors import ChildStop, Stop
from nanscope.fix.run import in_compiled, messages, sandbox
from nanscope.fix.run.environment import is_as_given
from nanscope.fix.run.messages import Answer, Plan
from nanscope.fix.run.overlay import Overlay, write_over
from nanscope.fix.run.probe import Probe
from nanscope.fix.run.run_logger import RunLogger
from nanscope.moments import attach
from nanscope.run import program
from nanscope.run.children import Children
from nanscope.run.conclusion import Conclusion
from nanscope.run.ending import Ending
from nanscope.run.news import News, in_memory
from nanscope.run.observer import Observer
from nanscope.run.process import Watch
from nanscope.run.settings import Settings
from nanscope.run.stopping import stop

NOT_KEPT = "in the run without the patch; `nanscope run` keeps what each found"
NOT_STARTED = 126  # of this process: it could not go where its writes are harmless


class RepeatObserver(Observer):
    """Watches every operation, with the logger beside."""

    def connect(self, torch) -> None:
        watch: RepeatWatch = self.stretch
        adapter = watch.probe.adapter = self.adapter
        watch.as_given = is_as_given(watch.environment)
        attach.connect(torch, adapter, watch.settings.main_file, watch.exception_for)
        adapter.install()
        watch.logger.attach(torch, adapter)
        adapter.watch(True)


class RepeatWatch(Watch):
    """Watches as `run` does; the answer is a file, and nothing is printed."""

    def __init__(self, settings: Settings, logger: RunLogger, probe: Probe, answer: str) -> None:
        super().__init__(settings)
        self.logger = logger
        self.probe = probe
        self.answer_path = answer
        self.owner = os.getpid()
        self.environment = dict(os.environ)  # as the program finds it
        self.as_given = False  # the environment was so when torch was imported

    def observer_of(self, adapter) -> Observer:
        return RepeatObserver(self, adapter)

    def exception_for(self, number: int | None) -> BaseException | None:
        self.logger.note_error()
        return stop(self.settings.is_child) if self.logger.stop_at_error else None

    def _judge(self, ending, raised) -> int | None:
        if os.getpid() != self.owner:
            return super()._judge(ending, raised)
        answer = Answer(ending.kind, ending.status, self.logger.log, self.probe.with_children())
        answer.problem = self.problem or ""
        answer.may_be_prepared = self.as_given and is_as_given(self.environment)
        if self.adapter is not None:
            # After the first error the watch was off: what is known is all there is to judge.
            stopped = self.adapter.error_found() or self.logger.log.reached_limit
            if stopped and ending.kind != "exception":
                ending = Ending("stopped", 0)
            conclusion = self._conclude_repeat(ending, raised)
            answer.report_json, answer.capture = conclusion.capture.json(), conclusion.path
        if ending.exception is not None:
            answer.exception = f"{type(ending.exception).__name__}: {ending.exception}"[:300]
        messages.send(self.answer_path, answer)
        return None

    def _conclude_repeat(self, ending, raised) -> Conclusion:
        from nanscope.moments import held

        ours = self.adapter.error_found()  # what is raised behind it is of values nobody watched
        if not ours and ending.exception is not None and ending.kind != "stopped":
            raised = held.Raised(ending.exception)
        return self.observer.conclude(ending, raised, ours)

    def _not_watched(self, children: list[tuple[int, str]]) -> list[tuple[str, str, int]]:
        """Names no captures of children: they go with the folder they are in."""
        gaps = super()._not_watched(children)
        theirs = _core.CHILDREN_WITH_ERRORS
        return [(what, NOT_KEPT if what == theirs else why, n) for what, why, n in gaps]

    def finish(self, ending) -> Conclusion:
        """With the program's own status."""
        gaps = self._not_watched(self._children())
        return Conclusion.of_session(self.adapter, ending, gaps)


def _settings(plan: Plan) -> Settings:
    return Settings(
        argv=plan.argv,
        main_file=plan.target if plan.kind == "script" else None,
        on_error="raise",
        output=plan.capture,
        force=True,
        quiet=True,
    )


def main() -> None:
    plan = messages.receive(Plan, sys.argv[1])
    if plan.in_sandbox:
        try:
            sandbox.enter(plan.exchange)
        except (sandbox.NotPossible, OSError) as error:
            print(f"nanscope: {error}", file=sys.stderr)
            sys.exit(NOT_STARTED)
        write_over(plan.plain)
    overlay = Overlay(plan.measured)
    overlay.install()
    if plan.measured != plan.plain:
        in_compiled.prepare()
    probe = Probe(plan.widens, plan.second_order)
    probe.answer = plan.answer
    sys.modules["builtins"].__nanscope__ = probe
    logger = RunLogger(plan.steps_after, plan.last_step, plan.stop_at_error)
    settings = _settings(plan)
    watch = RepeatWatch(settings, logger, probe, plan.answer)
    watch.news = News()
    settings.news = watch.news.path
    _, settings.handed = in_memory()
    watch.begin()
    Children(watch).follow()
    how = {"stop_type": (Stop, ChildStop), "call": _core.call_hidden}
    sys.orig_argv[0] = plan.launcher
    if plan.kind == "module":
        ending = program.run_module(plan.target, plan.args, **how)
    else:
        from nanscope.telling.source import keeper

        ending = program.run_script(
            plan.target, plan.args, **how, remember=keeper.remember, instead=overlay.get
        )
    watch.judge(ending)
    program.leave(ending)


if __name__ == "__main__":
    main()
