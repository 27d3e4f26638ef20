"""The backward of a compiled region: its gradients are looked at, and on a bad one the region is
computed again eagerly with its autograd graph, and that graph is run with the same gradients.
"""

from __future__ import annotations

import sys
import weakref
from contextlib import nullcontext

import torch
from torch.autograd.function import BackwardCFunction

from nanscope.compiled import generators, ways
from nanscope.compiled.reasons import BY_WAYS, NOT_AGAIN, OTHER_BACKEND, CannotReplay
from nanscope.errors import NonFiniteError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanscope.compiled.differences import Way
    from nanscope.compiled.region import RegionCall

NODE = "CompiledFunctionBackward"
CALL = "_nanscope_call"  # of a node: the call that it belongs to
MOST_WAITING = 4096


def await_backward(call: RegionCall, results: Sequence[object]) -> None:
    """Puts a hook on the node that computes the region's gradients, if it has one."""
    node, others = None, []
    for number, result in enumerate(results):
        made_by = result.grad_fn if isinstance(result, torch.Tensor) else None
        if made_by is None or made_by._sequence_nr() < call.first_node:
            continue  # none of this call: an input that is handed on
        if made_by.name() == NODE:
            node = made_by
            call.edges.append((number, result.output_nr))
        else:
            others.append(made_by)
            node = node or _behind(made_by, call.first_node)
    if node is not None and may_be_traced():
        call.region.waiting.keep(node, call)
    elif node is not None:
        _hook(node, call)
    elif any(isinstance(maker, BackwardCFunction) for maker in others):
        call.region.count(OTHER_BACKEND)  # other nodes are torch's own: their ops are watched


def _hook(node: object, call: RegionCall) -> None:
    guarded = call.region.guarded
    node.register_hook(lambda given, received: guarded(_ended, call, given, received))


class Waiting:
    """Calls whose backward may be compiled in its turn: compiled autograd would trace a hook. So
    they get theirs when a backward begins that is not compiled.
    """

    def __init__(self) -> None:
        self._nodes: list[weakref.ref] = []

    def keep(self, node: object, call: RegionCall) -> None:
        if len(self._nodes) >= MOST_WAITING:
            self._nodes = [known for known in self._nodes if known() is not None][-MOST_WAITING:]
        setattr(node, CALL, call)  # it lives as long as the node
        self._nodes.append(weakref.ref(node))

    def backward_begins(self) -> None:
        if not self._nodes or is_compiled_autograd_on():
            return
        nodes, self._nodes = self._nodes, []
        for known in nodes:
            node = known()
            if node is not None:
                _hook(node, getattr(node, CALL))


def _behind(node, first: int, levels: int = 4):
    """The region's node, where a result is a view of what it computed; not what was given to it."""
    if node is None or node._sequence_nr() < first:
        return None
    if node.name() == NODE:
        return node
    nodes = (_behind(other, first, levels - 1) for other, _ in node.next_functions if levels > 0)
    return next((found for found in nodes if found is not None), None)


def may_be_traced() -> bool:
    """Compiled autograd is on, or is switched on by whatever is compiled."""
    config = sys.modules.get("torch._dynamo.config")
    return is_compiled_autograd_on() or bool(getattr(config, "compiled_autograd", False))


def is_compiled_autograd_on() -> bool:
    compiler = sys.modules.get("torch._dynamo.compiled_autograd")
    return bool(getattr(compiler, "compiled_autograd_enabled", False))


def is_in_compiled_autograd() -> bool:
    """What is compiled or runs now is a backward."""
    compiler = sys.modules.get("torch._dynamo.compiled_autograd")
    return bool(getattr(compiler, "in_compiled_autograd_region", False))


def _ended(call: RegionCall, given: Sequence[object], received: Sequence[object]) -> None:
    """`given`: the gradients of the inputs, just computed; `received`: those of the results."""
    adapter = call.region.adapter
    if not adapter.region_is_watched():
        return
    bad, _ = adapter.look_at_region(given)
    if bad:
        with ways.without_dynamo():
            _tell(call, given, received, bad)
    call.let_go()
    adapter.stop_for_region()


def _tell(
    call: RegionCall, given: Sequence[object], received: Sequence[object], bad: list[int]
) -> None:
    """Whence the bad gradients are, as far as a replay shows it."""
    numbers, gradients, why = _inputs_of_node(call), {}, ""

    def recompute(way: Way) -> list[object]:
        found = _again(call, received, way)
        return [found.get(numbers.get(number)) for number in bad]

    try:
        gradients = _again(call, received, None)
    except CannotReplay as reason:
        why = NOT_AGAIN.format(reason)
    replayed = [gradients.get(numbers.get(number)) for number in range(len(given))]
    call.tell_all(
        [given[number] for number in bad],
        [replayed[number] for number in bad],
        [None] * len(bad),
        why,
        ("gradients", *bad),
        recompute,
    )
    call.tell_finite(given, replayed, bad)


def _inputs_of_node(call: RegionCall) -> dict[int, int]:
    """Which input of the region each gradient of the running node is for."""
    node = torch._C._current_autograd_node()
    by_maker: dict[tuple[int, int], int] = {}
    for number, value in enumerate(call.inputs):
        if isinstance(value, torch.Tensor) and value.requires_grad:
            maker = value.grad_fn
            key = (id(value), 0) if maker is None else (id(maker), value.output_nr)
            by_maker.setdefault(key, number)
    found = {}
    for place, (maker, output) in enumerate(node.next_functions if node is not None else ()):
        variable = getattr(maker, "variable", None)
        key = (id(variable), 0) if variable is not None else (id(maker), output)
        if key in by_maker:
            found[place] = by_maker[key]
    return found


def _again(
    call: RegionCall, received: Sequence[object], way: Way | None
) -> dict[int, torch.Tensor]:
    """The gradients, computed once more, by the number of the input."""
    adapter = call.region.adapter
    inputs, leaves = call.inputs_again(), {}
    leaf_of = getattr(way, "leaf_of", torch.Tensor.detach)
    for number, value in enumerate(inputs):
        if isinstance(value, torch.Tensor) and call.inputs[number].requires_grad:
            leaves[number] = leaf_of(value).requires_grad_()
            # What is written in place must not be a leaf.
            written = number in call.copies
            inputs[number] = adapter.quietly(leaves[number].clone) if written else leaves[number]
    around = getattr(way, "around", nullcontext)
    on, dtype = call.autocast
    with around():
        with torch.enable_grad(), torch.autocast("cpu", dtype, enabled=on):
            results = call.again(inputs, way)
        try:
            leaves_now = list(leaves.values())
            with ways.as_if_alone(), generators.left_alone(call.region.graph):
                found = adapter.repeat_region(_gradients_of, call, results, received, leaves_now)
        except (NonFiniteError, CannotReplay):
            raise
        except Exception as error:
            raise CannotReplay.of(error) from None
    return dict(zip(leaves, found, strict=False))


def _gradients_of(call: RegionCall, results, received: Sequence[object], leaves: list) -> tuple:
    roots, gradients = [], []
    for number, place in call.edges:
        if received[place] is not None and results[number].requires_grad:
            roots.append(results[number])
            gradients.append(received[place])
    others = [place for place, value in enumerate(received) if value is not None]
    if len(others) > len(roots):
        raise CannotReplay(BY_WAYS)
    if not roots or not leaves:
        return ()
    # The engine itself: for the watch this is still the backward that the program began.
    return torch.autograd.Variable._execution_engine.run_backward(
        tuple(roots),
        tuple(gradients),
        False,
        False,
        tuple(leaves),
        allow_unreachable=True,
        accumulate_grad=False,
    )
