"""`run` shows the first patch that `fix` would try, marked as not verified.

It is looked for in a process of its own, once an error was found and is on disk, if it can be:
whatever the program has done to this one (modules replaced, memory used up, threads that still
run), and whatever happens there, the diagnosis is shown.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

from nanscope.run.progress import wait_for
from nanscope.telling.stack import START_DIRECTORY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nanscope.run.conclusion import Conclusion
    from nanscope.run.settings import Settings

PATIENCE = 120  # seconds; it takes half of one where the machine is not busy


def add_to(conclusion: Conclusion, settings: Settings) -> None:
    """Into the capture, in memory and in its file, if it has one; or nothing happens."""
    if not conclusion.capture.error:
        return
    try:
        records = conclusion.capture.to_bytes()
        fix = _first(records, settings.main_file or "", not settings.quiet)
        if fix is not None:
            conclusion.capture.propose(fix, conclusion.path)
    except (Exception, KeyboardInterrupt):
        pass  # what was found is shown without it


def _first(records: bytes, main_file: str, tell: bool) -> dict | None:
    with open(os.memfd_create("nanscope"), "w+b") as capture:
        capture.write(records)
        capture.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "nanscope.fix.verb.first", main_file],
            cwd=START_DIRECTORY or None,
            stdin=capture,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    try:
        answer, _ = wait_for(
            lambda seconds: process.communicate(timeout=seconds),
            "looking for a patch",
            PATIENCE,
            tell,
        )
    except BaseException:
        process.kill()
        process.wait()
        raise
    return json.loads(answer) if answer else None
