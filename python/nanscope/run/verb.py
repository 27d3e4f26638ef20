"""`nanscope run`: watches a program, judges it when it ends, prints the diagnosis."""

from __future__ import annotations

from nanscope import _core
from nanscope.errors import ChildStop, Stop
from nanscope.run import program
from nanscope.run.children import Children, News
from nanscope.run.process import Watch
from nanscope.run.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nanscope.run.program import Ending


def carry_out(request) -> int:
    """Runs the program of the request; ends the process as it would have ended, or with 3."""
    watch = Watch(Settings.of(request))
    watch.news = News()
    watch.settings.news = watch.news.path
    watch.begin()
    Children(watch).follow()
    ending = _execute(request)
    status = watch.judge(ending) if ending.started else None
    program.leave(ending, status)


def _execute(request) -> Ending:
    from nanscope.telling.source import keeper

    target, args = request.target, list(request.args)
    how = {"stop_type": (Stop, ChildStop), "call": _core.call_hidden}
    if request.kind == "module":
        return program.run_module(target, args, **how)
    runner = program.run_code if request.kind == "code" else program.run_script
    return runner(target, args, **how, remember=keeper.remember)
