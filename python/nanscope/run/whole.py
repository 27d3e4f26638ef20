"""A whole program under the watch: from its first line to the end of the process."""

from __future__ import annotations

from nanscope import _core
from nanscope.errors import ChildStop, Stop
from nanscope.ranks import together
from nanscope.run import program
from nanscope.run.children import Children
from nanscope.run.ending import Ending, leave_at_once
from nanscope.run.rank_end import despite_late_stop

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nanscope.run.process import Watch


def run_watched(watch: Watch, kind: str, target: str, args: list[str]) -> None:
    """Runs it as python would, judges it, and ends the process as it would have ended, or with 3.

    `kind`: "script", "module" or "code".
    """
    watch.begin()
    Children(watch).follow()
    try:
        ending = _execute(kind, target, args)
    except (Stop, ChildStop) as late:  # another rank's, when the program had ended already
        ending = Ending("stopped", 0, late)
    status = despite_late_stop(lambda: watch.judge(ending)) if ending.started else None
    if status is not None and together.is_one_of_many():
        leave_at_once(status)
    program.leave(ending, status)


def _execute(kind: str, target: str, args: list[str]) -> Ending:
    from nanscope.telling.source import keeper

    how = {"stop_type": (Stop, ChildStop), "call": _core.call_hidden}
    if kind == "module":
        return program.run_module(target, args, **how)
    runner = program.run_code if kind == "code" else program.run_script
    return runner(target, args, **how, remember=keeper.remember)
