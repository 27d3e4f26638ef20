"""`nanscope run`: watches a program, judges it when it ends, prints the diagnosis."""

from __future__ import annotations

import sys

from nanscope import _core
from nanscope.errors import ChildStop, Stop
from nanscope.ranks import together
from nanscope.run import program, project
from nanscope.run.children import Children
from nanscope.run.ending import Ending, leave_at_once, say
from nanscope.run.news import News, in_memory
from nanscope.run.process import Watch
from nanscope.run.rank_end import despite_late_stop
from nanscope.run.settings import Settings

BAD_USAGE = 2


def carry_out(request, replay: str = "") -> int:
    """Runs the program of the request; ends the process as it would have ended, or with 3.

    `replay`: the folder of a kept step, which is met in place of the program's own first.
    """
    try:
        settings = Settings.of(request)
    except project.BadProject as wrong:
        say(f"nanscope: {wrong}")
        sys.exit(BAD_USAGE)
    launched = Launch(request)
    if launched.problem:
        say(f"nanscope: {launched.problem}")
        sys.exit(BAD_USAGE)
    settings.replay = replay
    watch = Watch(settings)
    watch.news = News()
    watch.settings.news = watch.news.path
    _, watch.settings.handed = in_memory()
    watch.begin()
    Children(watch).follow()
    try:
        ending = _execute(launched)
    except (Stop, ChildStop) as late:  # another rank's, when the program had ended already
        ending = Ending("stopped", 0, late)
    status = despite_late_stop(lambda: watch.judge(ending)) if ending.started else None
    if status is not None and together.is_one_of_many():
        leave_at_once(status)
    program.leave(ending, status)


class Launch:
    """What is run: the program, or with --nproc the launcher of torch that starts it N times."""

    def __init__(self, request) -> None:
        self.kind, self.target, self.args = request.kind, request.target, list(request.args)
        self.problem = ""
        if request.nproc is None:
            return
        if self.kind == "code" or self.target == "-":
            self.problem = "--nproc needs a script or a module to start."
            return
        ranks = ["--standalone", "--nproc-per-node", str(request.nproc)]
        program = ["-m", self.target] if self.kind == "module" else [self.target]
        self.kind, self.args = "module", [*ranks, *program, *self.args]
        self.target = "torch.distributed.run"


def _execute(request) -> Ending:
    from nanscope.telling.source import keeper

    target, args = request.target, list(request.args)
    how = {"stop_type": (Stop, ChildStop), "call": _core.call_hidden}
    if request.kind == "module":
        return program.run_module(target, args, **how)
    runner = program.run_code if request.kind == "code" else program.run_script
    return runner(target, args, **how, remember=keeper.remember)
