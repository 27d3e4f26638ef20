"""MLflow: tags on the run that the program has begun, and the report as an artifact.

A run that has ended by now is still told: MLflow lets one add to it.
"""

from __future__ import annotations

import sys

from nanscope.run.notices import Alert, NotNotified

LONGEST_TAG = 5000


def notify(alert: Alert, place: str = "mlflow") -> None:
    mlflow = sys.modules.get("mlflow")
    if mlflow is None:
        raise NotNotified("the program has not imported it")
    run = mlflow.active_run() or mlflow.last_active_run()
    if run is None:
        raise NotNotified("the program has begun no run of it")
    client, number = mlflow.MlflowClient(), run.info.run_id
    client.set_tag(number, "nanscope.cause", alert.cause)
    client.set_tag(number, "nanscope.headline", alert.headline[:LONGEST_TAG])
    client.log_text(number, alert.text, "nanscope.txt")
    client.log_text(number, alert.json, "nanscope.json")
