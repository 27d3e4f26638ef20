"""`run` shows the first patch that `fix` would try, marked as not verified.

It is looked for in a process of its own, once an error was found and is on disk: whatever the
program has done to this one (modules replaced, memory used up, threads that still run), and
whatever happens there, the diagnosis is told.
"""

from __future__ import annotations

import json
import subprocess
import sys

from nanscope import _core
from nanscope.telling.stack import START_DIRECTORY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nanscope.run.settings import Settings

PATIENCE = 120  # seconds; it takes half of one where the machine is not busy


def add_to(told: dict, settings: Settings) -> None:
    """Into the capture, the JSON and the text of what is about to be told; or nothing happens."""
    if not told["error"] or not told["capture"]:
        return
    try:
        fix = _first(told["capture"], settings.main_file or "")
        if fix is None or not _core.add_proposal(told["capture"], fix):
            return
        shown, text = _core.report(told["capture"], [], settings.verbose, settings.color)
        proposed = json.loads(shown)["findings"][0]
        report = json.loads(told["json"])
        error = next(f for f in report["findings"] if f["level"] == "error")
        error["fix"], error["verification"] = proposed["fix"], proposed["verification"]
        told["json"] = json.dumps(report, indent=2, ensure_ascii=False) + "\n"
        told["text"] = text
    except (Exception, KeyboardInterrupt):
        pass  # what was found is told without it


def _first(capture: str, main_file: str) -> dict | None:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "nanscope.fix.verb.first", capture, main_file],
        cwd=START_DIRECTORY or None,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=PATIENCE,
    )
    return json.loads(done.stdout) if done.stdout else None
