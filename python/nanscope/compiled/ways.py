"""Ways to compute the results of a call once more: `way(call, inputs)`."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager

import torch
from torch._C._dynamo.eval_frame import set_eval_frame

from nanscope.compiled import forward_again, random_bits
from nanscope.compiled.reasons import HOLDS_LEAVES, WRITES_HELD, CannotReplay

TYPE_CHECKING = False
if TYPE_CHECKING:
    from torch.fx import GraphModule

    from nanscope.compiled.region import RegionCall


@contextmanager
def without_dynamo():
    """A backward that a compiled function begins runs its hooks where dynamo still reads along: it
    would compile what a replay calls.
    """
    reader = set_eval_frame(None)
    try:
        yield
    finally:
        set_eval_frame(reader)


def eagerly(call: RegionCall, inputs: list[object], graph: GraphModule | None = None) -> tuple:
    """Op by op, each at its line. `graph`: another than the one that was kept."""
    region = call.region
    graph = graph or region.graph.run
    run = _run_backward if region.in_backward else forward_again.run
    drawn = region.graph, call.drawn_from, call.drawn_to
    with as_if_alone(), random_bits.the_same(region.adapter, *drawn, region.seeded):
        return run(graph, inputs)


@contextmanager
def as_if_alone():
    """What the program does around its calls is done for the program's own: a function mode was
    read into the graph, and what packs saved tensors is told of none that a replay saves.
    """
    with ExitStack() as around:
        if torch._C._autograd._top_saved_tensors_default_hooks(True) is not None:
            around.enter_context(torch.autograd.graph.saved_tensors_hooks(_itself, _itself))
        if torch._C._len_torch_function_stack() > 0:
            around.enter_context(torch._C.DisableTorchFunction())
        yield


def _itself(tensor):
    return tensor


def _run_backward(graph, inputs: list[object]) -> tuple:
    """A backward that is a graph of its own: the phase is that of whoever asks for it now."""
    results = graph.forward(*inputs)
    return tuple(results) if isinstance(results, (tuple, list)) else (results,)


def by_the_compiler(call: RegionCall, inputs: list[object]) -> tuple:
    """By the compiled code itself."""
    region = call.region
    held = len(region.graph.held)
    if any(number < held for number in call.copies):
        raise CannotReplay(WRITES_HELD)  # it would write the program's own
    if any(tensor.requires_grad for tensor in region.graph.held):
        raise CannotReplay(HOLDS_LEAVES)
    with as_if_alone(), random_bits.drawn_from(region.graph, call.drawn_from):
        return tuple(region.compiled(*inputs[held:]))
