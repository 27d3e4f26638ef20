"""Trackio: an alert in the run that the program has begun."""

from __future__ import annotations

import sys

from nanscope.run.notices import Alert, NotNotified


def notify(alert: Alert, place: str = "trackio") -> None:
    trackio = sys.modules.get("trackio")
    if trackio is None:
        raise NotNotified("the program has not imported it")
    try:
        trackio.alert(
            title=f"nanscope: {alert.headline}", text=alert.text, level=trackio.AlertLevel.ERROR
        )
    except RuntimeError:
        raise NotNotified("the program has no run of it open") from None
