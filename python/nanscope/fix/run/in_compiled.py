"""Measuring calls inside a function that torch.compile compiles: its graph breaks at each.

What a measuring call computes is not the program's, and must not be compiled into it. The rest of
the function stays compiled. A function that was to be one graph (`fullgraph`) is allowed to break
while it is measured; the patch as it is then runs without these calls, as the program asks for it.
"""

from __future__ import annotations

from nanscope.fix.run.probe import Probe
from nanscope.run.imports import when_imported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

CALLS = ("ran", "counted", "fired", "compare")


def prepare() -> None:
    """Before the program begins."""
    when_imported("torch._dynamo", _let_graphs_break)


def _let_graphs_break(dynamo: ModuleType) -> None:
    for name in CALLS:
        setattr(Probe, name, dynamo.disable(getattr(Probe, name)))
    inside = Probe.without_autocast
    Probe.without_autocast = staticmethod(dynamo.disable(inside))
    optimize = dynamo.optimize

    def optimize_with_breaks(*args, **kwargs):
        return optimize(*args, **{**kwargs, "nopython": False})

    dynamo.optimize = optimize_with_breaks
