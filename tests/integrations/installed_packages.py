"""Where the packages are that integrations are tested with (scripts/setup_packages.sh)."""

from __future__ import annotations

import os

from watched import ENVIRONMENT, ROOT

INSTALLED = next((ROOT / ".venv" / "packages").glob("lib/python3*/site-packages"), None)
assert INSTALLED is not None, "no packages: scripts/setup_packages.sh"
WITH_PACKAGES = {**ENVIRONMENT, "PYTHONPATH": os.fspath(INSTALLED), "HF_HUB_OFFLINE": "1"}


def with_trackers() -> dict[str, str]:
    """The same, and those of requirements-trackers.txt."""
    folder = ROOT / ".venv" / "trackers"
    assert (folder / ".done").exists(), "no trackers: scripts/setup_packages.sh trackers"
    more = next(folder.glob("lib/python3*/site-packages"))
    return {**WITH_PACKAGES, "PYTHONPATH": f"{INSTALLED}{os.pathsep}{more}"}
