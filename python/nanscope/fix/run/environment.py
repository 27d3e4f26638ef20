"""Whether a program changes the environment, which torch reads when it is imported."""

from __future__ import annotations

import os

SET_BY_TORCH = "TORCHINDUCTOR_CACHE_DIR"


def is_as_given(environment: dict[str, str]) -> bool:
    """Whether the program has left the environment as it was: torch reads it when imported."""
    return _without_torch(dict(os.environ)) == _without_torch(environment)


def _without_torch(environment: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name != SET_BY_TORCH}
