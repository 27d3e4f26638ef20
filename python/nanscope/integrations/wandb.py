"""Weights & Biases: an alert in the run that the program has begun, and the report in its summary.

Offline the alert waits in the run's files, as all else does, until they are synchronised.
"""

from __future__ import annotations

import sys

from nanscope.run.notices import Alert, NotNotified

LONGEST_TITLE = 63


def notify(alert: Alert, place: str = "wandb") -> None:
    wandb = sys.modules.get("wandb")
    run = getattr(wandb, "run", None)
    if run is None:
        raise NotNotified("the program has no run of it open")
    title = f"nanscope: {alert.cause}"[:LONGEST_TITLE]
    run.alert(title, alert.headline, level="ERROR")
    run.summary.update({"nanscope/headline": alert.headline, "nanscope/cause": alert.cause})
    run.summary["nanscope/report"] = alert.text
