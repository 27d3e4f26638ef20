"""The JSON report of a run in which nothing could be watched."""

from __future__ import annotations

import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nanscope.run.ending import Ending
    from nanscope.run.settings import Settings


def text(
    settings: Settings,
    torch_version: str,
    ending: Ending,
    status: int,
    gaps: list[tuple[str, str, int]],
) -> str:
    report = {
        "schema": "nanscope/1",
        "verdict": "unknown" if gaps else "clean",
        "program": {
            "argv": settings.argv,
            "python": sys.version.split()[0],
            "torch": torch_version,
            "mode": "exact",
            "pid": os.getpid(),
            "host": os.uname().nodename,
            "exit_status": status,
            "ended": ending.kind,
        },
        "findings": [],
        "coverage": {
            "ops_watched": 0,
            "bytes_scanned": 0,
            "steps": 0,
            "not_watched": [{"what": what, "why": why, "count": n} for what, why, n in gaps],
        },
    }
    return json.dumps(report) + "\n"
