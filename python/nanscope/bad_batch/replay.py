"""`nanscope replay DIR`: the program is started again, its training put where it stood before the
failing step, the kept batch given in place of its own; the same finding must come out.
"""

from __future__ import annotations

import json
import os
import shlex
import sys

from nanscope import _core
from nanscope.bad_batch.folder import STEP, Refused, read_about
from nanscope.run.ending import say

BAD_USAGE = 2
HOW = "give the script yourself, behind {}, or --yes to run what is kept there"


def carry_out(request) -> int:
    from nanscope.run import verb

    try:
        about = read_about(request.folder)
        words = command(request, about)
        look_at(os.path.join(request.folder, STEP))
    except Refused as error:
        say(f"nanscope replay: {error}")
        return BAD_USAGE
    outcome = _core.command_line(words, _core.Terminal())
    if outcome.run is None:
        say(outcome.err.decode("utf-8", "replace").strip())
        return BAD_USAGE
    return verb.carry_out(outcome.run, replay=os.path.abspath(request.folder))


def command(request, about: dict) -> list[str]:
    """What `nanscope run` is given: the script named, or the kept one if the user agrees."""
    run = request.run
    program = about["argv"]
    if run.target:
        option = {"module": ["-m"], "code": ["-c"]}.get(run.kind, [])
        program = [*option, run.target, *run.args]
    else:
        shown = " ".join(shlex.quote(word) for word in ["python", *program])
        if not shown.isprintable():
            shown = ascii(shown)
        say(f"nanscope replay: {request.folder} was kept of: {shown}")
        if not request.yes and not agreed(f"run it in {os.getcwd()}?"):
            raise Refused(f"it is not run: {HOW.format(request.folder)}.")
    words = ["nanscope", "run", "--mode", "exact"]
    for option, given in (("-q", run.quiet), ("-v", run.verbose), ("--no-color", not run.color)):
        words += [option] if given else []
    for option, place in (("--json", run.json), ("--html", run.html)):
        words += [option, place] if place else []
    return [*words, *program] if program[0] in ("-m", "-c") else [*words, "--", *program]


def agreed(question: str) -> bool:
    if not os.isatty(0) or not os.isatty(2):
        return False
    sys.stderr.write(f"nanscope replay: {question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def look_at(path: str) -> None:
    """Whether it can be read, before a program is started; torch is not imported for it."""
    outcome = _core.command_line(["nanscope", "scan", "--json", "--", path], _core.Terminal())
    for sentence in json.loads(outcome.out)["errors"]:
        raise Refused(sentence if sentence.isprintable() else ascii(sentence))
