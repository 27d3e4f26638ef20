"""Ways to compute the results of a call once more: `way(call, inputs)`."""

from __future__ import annotations

from nanscope.compiled import forward_again, random_bits
from nanscope.compiled.reasons import HOLDS_LEAVES, WRITES_HELD, CannotReplay

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nanscope.compiled.region import Call


def eagerly(call: Call, inputs: list[object]) -> tuple:
    """Op by op, each at its line."""
    region = call.region
    run = _run_backward if region.in_backward else forward_again.run
    if call.drawn_from is None:
        return run(region.graph.run, inputs)
    drawn = call.drawn_from, call.drawn_to
    with random_bits.the_same(region.adapter, *drawn, region.seeded):
        return run(region.graph.run, inputs)


def _run_backward(graph, inputs: list[object]) -> tuple:
    """A backward that is a graph of its own: the phase is that of whoever asks for it now."""
    results = graph.forward(*inputs)
    return tuple(results) if isinstance(results, (tuple, list)) else (results,)


def by_the_compiler(call: Call, inputs: list[object]) -> tuple:
    """By the compiled code itself."""
    region = call.region
    held = len(region.graph.held)
    if any(number < held for number in call.copies):
        raise CannotReplay(WRITES_HELD)  # it would write the program's own
    if any(tensor.requires_grad for tensor in region.graph.held):
        raise CannotReplay(HOLDS_LEAVES)
    with random_bits.drawn_from(call.drawn_from):
        return tuple(region.compiled(*inputs[held:]))
