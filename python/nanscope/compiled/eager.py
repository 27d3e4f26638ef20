"""`nanscope run --eager`: the program with every torch.compile off."""

from __future__ import annotations

from nanscope.run.imports import when_imported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType


def switch_off() -> None:
    """Before the program begins: what it asks of the compiler then is not done."""
    when_imported("torch._dynamo.config", _disable)


def _disable(config: ModuleType) -> None:
    config.disable = True
