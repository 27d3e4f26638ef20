"""`python -m nanscope.run.followed program ...`: a Python that a watched program started.

The run that it belongs to is told that it joined, how it ended and what it found.
"""

from __future__ import annotations

import json
import os
import sys

from nanscope.outside.arrivals import arrivals
from nanscope.ranks.board import attempt
from nanscope.run.ending import REAL_EXIT, Ending
from nanscope.run.following import VARIABLE
from nanscope.run.news import joined, was_stopped
from nanscope.run.process import Watch
from nanscope.run.rank_end import ERROR_FOUND
from nanscope.run.settings import Settings
from nanscope.run.whole import run_watched


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
    run_watched(watch, kind, target, args)


def _stem(kind: str, target: str) -> str:
    name = "code" if kind == "code" else os.path.basename(target.rstrip(os.sep))
    return name.removesuffix(".py") or "program"


if __name__ == "__main__":
    main()
