"""`python -m nanscope.run.followed program ...`: a Python that a watched program started.

The run that it belongs to is told that it joined, how it ended and what it found.
"""

from __future__ import annotations

import json
import os
import sys

from nanscope import _core
from nanscope.errors import ChildStop, Stop
from nanscope.outside.arrivals import arrivals
from nanscope.ranks import together
from nanscope.ranks.board import attempt
from nanscope.run import program
from nanscope.run.children import Children
from nanscope.run.ending import REAL_EXIT, Ending, leave_at_once
from nanscope.run.following import VARIABLE
from nanscope.run.news import joined, was_stopped
from nanscope.run.process import Watch
from nanscope.run.rank_end import ERROR_FOUND, despite_late_stop
from nanscope.run.settings import Settings


def main() -> None:
    settings = Settings(**json.loads(os.environ.pop(VARIABLE)))
    words = sys.argv[1:]
    kind = {"-m": "module", "-c": "code"}.get(words[0], "script")
    target, args = (words[0], words[1:]) if kind == "script" else (words[1], words[2:])
    settings.argv = words
    settings.main_file = target if kind == "script" else None
    settings.stem = f"nanscope-{_stem(kind, target)}"
    arrivals.other_processes = True
    watch = Watch(settings)
    joined(settings.news, settings.followed)
    if attempt() > 0 and was_stopped(settings.news):  # a rank, started again after an error
        watch.judge(Ending("stopped", 0))
        REAL_EXIT(ERROR_FOUND)
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


def _stem(kind: str, target: str) -> str:
    name = "code" if kind == "code" else os.path.basename(target.rstrip(os.sep))
    return name.removesuffix(".py") or "program"


def _execute(kind: str, target: str, args: list[str]) -> program.Ending:
    from nanscope.telling.source import keeper

    how = {"stop_type": (Stop, ChildStop), "call": _core.call_hidden}
    if kind == "module":
        return program.run_module(target, args, **how)
    runner = program.run_code if kind == "code" else program.run_script
    return runner(target, args, **how, remember=keeper.remember)


if __name__ == "__main__":
    main()
