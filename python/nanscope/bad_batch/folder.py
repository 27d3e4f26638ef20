"""The folder of `run --bad-batch`, read without trust: others may have made it.

step.pt        models, optimizers, random numbers, the batch: torch.load(weights_only=True)
about.json     the command, the finding in short, the loader, rows and samples to blame
finding.json   the whole report
"""

from __future__ import annotations

import json
import os

SCHEMA = "nanscope-bad-batch/1"
STEP, ABOUT, FINDING = "step.pt", "about.json", "finding.json"


class Refused(Exception):
    """A sentence: why there is nothing to replay."""


def read_about(folder: str) -> dict:
    try:
        with open(os.path.join(folder, ABOUT), encoding="utf-8") as file:
            about = json.load(file)
    except (OSError, ValueError):
        about = None
    wanted = {"argv": list, "op": str, "cause": str, "site": dict, "headline": str}
    if not isinstance(about, dict) or about.get("schema") != SCHEMA:
        raise Refused(f"{folder} holds nothing that `nanscope run --bad-batch` kept.")
    if not all(isinstance(about.get(key), kind) for key, kind in wanted.items()):
        raise Refused(f"{os.path.join(folder, ABOUT)} is damaged.")
    if not about["argv"] or not all(isinstance(word, str) for word in about["argv"]):
        raise Refused(f"{os.path.join(folder, ABOUT)} names no program.")
    return about
