"""What `fix --from` takes from a capture.

Others may have written it: no command that stands there is run before the user has seen it and said
yes.
"""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import dataclass, field

from nanscope import _core
from nanscope.findings import Report
from nanscope.run.ending import say

IT_SAYS = "nanscope fix: {} says that it was made by: {}"
HOW = "give the script yourself, behind --from {}, or --yes to run what the capture says"
NO_PROGRAM = "{} does not say which program it is of: give the script yourself."


class BadCapture(Exception):
    """The capture of --from is none."""


class NotAllowed(Exception):
    """The command of the capture is not to be run."""


def read(capture: str) -> _core.Capture:
    try:
        return _core.Capture.read(capture)
    except ValueError as error:
        raise BadCapture(str(error)) from None


def report_of(capture: str) -> Report:
    return Report.parse(read(capture).json())


@dataclass
class Command:
    """The program to run."""

    kind: str
    target: str
    args: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, request) -> Command:
        """From the command line, or else from the capture, if the user agrees."""
        run, capture = request.run, request.from_
        if run.target or capture is None:
            return cls(run.kind, run.target, list(run.args))
        command = cls._of_capture(capture)
        if request.max_runs == 0:
            return command  # nothing is run
        say(IT_SAYS.format(_shown(capture), command.shown()))
        answer = True if request.yes else agreed(f"run it in {os.getcwd()}?")
        if answer is None:
            raise NotAllowed(f"it is not run: {HOW.format(_shown(capture))}.")
        if not answer:
            raise NotAllowed("it is not run.")
        return command

    @classmethod
    def _of_capture(cls, capture: str) -> Command:
        argv = report_of(capture).program.argv
        if argv[:1] == ["-m"] and len(argv) > 1:
            return cls("module", argv[1], argv[2:])
        if not argv or argv[0] in ("", "-", "-c", "-m"):
            raise NotAllowed(NO_PROGRAM.format(_shown(capture)))
        return cls("script", argv[0], argv[1:])

    def shown(self) -> str:
        words = ["-m", self.target] if self.kind == "module" else [self.target]
        return " ".join(_shown(word) for word in ["python", *words, *self.args])


def agreed(question: str) -> bool | None:
    """The answer at the terminal; None: there is nobody to ask."""
    if not os.isatty(0) or not os.isatty(2):
        return None
    sys.stderr.write(f"nanscope fix: {question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _shown(word: str) -> str:
    """As a shell would take it. What a terminal would obey instead of showing is spelt out."""
    if word.isprintable():
        return shlex.quote(word)
    letters = (c if c.isprintable() and c not in "\\'" else _escape(c) for c in word)
    return f"$'{''.join(letters)}'"


def _escape(character: str) -> str:
    if character in "\\'":
        return "\\" + character
    if "\udc80" <= character <= "\udcff":  # a byte that is no text
        return f"\\x{ord(character) - 0xDC00:02x}"
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x80 else f"\\U{number:08x}"
