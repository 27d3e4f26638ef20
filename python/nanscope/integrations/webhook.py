"""A webhook: one POST of JSON to the address that `--notify` names.

`text` is what chat services show; the other fields are for programs. Source and values are left
out: where the message goes, others may read it.
"""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request

from nanscope.run.notices import Alert, NotTold

TIMEOUT_S = 10


def notify(alert: Alert, address: str) -> None:
    request = urllib.request.Request(
        address,
        data=json.dumps(message(alert)).encode(),
        headers={"Content-Type": "application/json", "User-Agent": "nanscope"},
        method="POST",
    )
    try:
        with _opener().open(request, timeout=TIMEOUT_S):
            pass
    except urllib.error.HTTPError as error:
        raise NotTold(f"it answered {error.code} {error.reason}") from None
    except (urllib.error.URLError, OSError, ValueError) as error:
        raise NotTold(getattr(error, "reason", error)) from None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """What was meant for one address goes to no other."""

    def redirect_request(self, *_: object) -> None:
        return None


def _opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(_NoRedirect)


def message(alert: Alert) -> dict[str, object]:
    finding, program = alert.finding, alert.report.get("program", {})
    origin, cause = finding.get("origin", {}), finding.get("cause", {})
    site = origin.get("site", {})
    argv = program.get("argv") or [""]
    return {
        "text": f"nanscope: {alert.headline} ({alert.cause}), step {alert.step}",
        "verdict": alert.report.get("verdict"),
        "headline": alert.headline,
        "cause": alert.cause,
        "certainty": cause.get("certainty"),
        "op": origin.get("op"),
        "phase": origin.get("phase"),
        "step": alert.step,
        "module": origin.get("module"),
        "file": site.get("file"),
        "line": site.get("line"),
        "program": argv[1] if argv[0] == "-m" and len(argv) > 1 else argv[0],
        "host": os.uname().nodename,
        "pid": os.getpid(),
    }
