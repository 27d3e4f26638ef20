"""A webhook: one POST of JSON to the address that `--notify` names.

`text` is what chat services show; the other fields are for programs. Source and values are left
out: where the message goes, others may read it.
"""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request

from nanscope.run.notices import Alert, NotNotified

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
        raise NotNotified(f"it answered {error.code} {error.reason}") from None
    except (urllib.error.URLError, OSError, ValueError) as error:
        raise NotNotified(getattr(error, "reason", error)) from None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """What was meant for one address goes to no other."""

    def redirect_request(self, *_: object) -> None:
        return None


def _opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(_NoRedirect)


def message(alert: Alert) -> dict[str, object]:
    finding = alert.finding
    origin = finding.origin if finding else None
    argv = alert.report.program.argv or [""]
    return {
        "text": f"nanscope: {alert.headline} ({alert.cause}), step {alert.step}",
        "verdict": alert.report.verdict,
        "headline": alert.headline,
        "cause": alert.cause,
        "certainty": finding.cause.certainty if finding else None,
        "op": origin.op if origin else None,
        "phase": origin.phase if origin else None,
        "step": alert.step,
        "module": origin.module if origin else None,
        "file": origin.site.file if origin else None,
        "line": origin.site.line if origin else None,
        "program": argv[1] if argv[0] == "-m" and len(argv) > 1 else argv[0],
        "host": os.uname().nodename,
        "pid": os.getpid(),
    }
