"""Computes with memory that nobody has written as if the worst lay in it.

What `torch.empty` gives holds whatever was there before: a replay is given other memory than the
call had. So the replay that is told has zeros there. Where it is finite, and shows the same bad
values once all such memory is filled with them, they come from there.
"""

from __future__ import annotations

from nanscope.compiled.graphs import name_of
from nanscope.compiled.ways import eagerly
from nanscope.telling.functions import functions_that

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    import torch
    from torch.fx import GraphModule

    from nanscope.compiled.region import RegionCall

ALLOCATES = functions_that("allocates")


class Unwritten:
    """Eagerly, with `filler` wherever the graph takes memory that nobody has written."""

    def __init__(self, adapter, filler: float) -> None:
        self._adapter = adapter
        self._filler = filler
        self._graph: GraphModule | None = None

    def __call__(self, call: RegionCall, inputs: list[object]) -> tuple:
        if self._graph is None:
            self._graph = self._filling(call.region.graph.run)
        return eagerly(call, inputs, self._graph)

    def _filling(self, kept: GraphModule) -> GraphModule:
        import torch.fx

        graph = torch.fx.Graph()
        graph.output(graph.graph_copy(kept.graph, {}))
        for node in graph.nodes:
            if node.op == "call_function" and name_of(node) in ALLOCATES:
                node.target = self._filled(node.target)
        filling = torch.fx.GraphModule(kept, graph)
        for name, part in list(filling.named_children()):
            if isinstance(part, torch.fx.GraphModule):
                setattr(filling, name, self._filling(part))
        return filling

    def _filled(self, allocate: Callable) -> Callable:
        def filled(*args, **kwargs):
            made = allocate(*args, **kwargs)
            if made.is_floating_point() or made.is_complex():
                self._adapter.quietly(_fill, made, self._filler)
            return made

        filled.__name__ = f"{allocate.__name__}_filled"  # torch.fx writes calls by their names
        filled.__module__ = __name__
        return filled


def _fill(made: torch.Tensor, filler: float) -> None:
    made.detach().fill_(filler)
