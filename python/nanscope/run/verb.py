"""`nanscope run`: watches a program, judges it when it ends, prints the diagnosis."""

from __future__ import annotations

import sys

from nanscope.run import project
from nanscope.run.ending import say
from nanscope.run.news import News, in_memory
from nanscope.run.process import Watch
from nanscope.run.settings import Settings
from nanscope.run.whole import run_watched

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
    run_watched(watch, launched.kind, launched.target, launched.args)


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
