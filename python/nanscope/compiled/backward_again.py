"""The backward of a compiled region: its gradients are looked at, and on a bad one the region is
computed again eagerly with its autograd graph, and that graph is run with the same gradients.
"""

from __future__ import annotations

import sys

import torch

from nanscope.compiled.reasons import BY_WAYS, NO_NODE, NOT_AGAIN, CannotReplay

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanscope.compiled.region import Call

NODE = "CompiledFunctionBackward"


def await_backward(call: Call, results: Sequence[object]) -> None:
    """Puts a hook on the node that computes the region's gradients, if it has one."""
    node, wanted = None, False
    for number, result in enumerate(results):
        made_by = result.grad_fn if isinstance(result, torch.Tensor) else None
        if made_by is None:
            continue
        wanted = True
        if made_by.name() == NODE:
            node = made_by
            call.edges.append((number, result.output_nr))
        elif node is None:
            node = _behind(made_by)
    if node is not None and not _is_traced():
        guarded = call.region.guarded
        node.register_hook(lambda given, received: guarded(_ended, call, given, received))
    elif wanted:
        call.region.count(NO_NODE)


def _behind(node, levels: int = 4):
    """The region's node, where a result is a view of what it computed."""
    if node is None or node.name() == NODE:
        return node
    nodes = (_behind(other, levels - 1) for other, _ in node.next_functions if levels > 0)
    return next((found for found in nodes if found is not None), None)


def _is_traced() -> bool:
    """Compiled autograd would trace the hook; it compiles the backward as a region of its own."""
    enabled = sys.modules.get("torch._dynamo.compiled_autograd")
    config = sys.modules.get("torch._dynamo.config")
    return bool(
        getattr(enabled, "compiled_autograd_enabled", False)
        or getattr(config, "compiled_autograd", False)
    )


def _ended(call: Call, given: Sequence[object], received: Sequence[object]) -> None:
    """`given`: the gradients of the inputs, just computed; `received`: those of the results."""
    adapter = call.region.adapter
    if not adapter.region_is_watched():
        return
    bad = adapter.look_at_region(given)
    if bad:
        _tell(call, given, received, bad)
    call.let_go()
    adapter.stop_for_region()


def _tell(call: Call, given: Sequence[object], received: Sequence[object], bad: list[int]) -> None:
    """Whence the bad gradients are, as far as a replay shows it."""
    numbers, gradients, why = _inputs_of_node(call), {}, ""
    try:
        gradients = _again(call, received)
    except CannotReplay as reason:
        why = call.region.words() + NOT_AGAIN.format(reason)
    for number in bad:
        call.tell_one(given[number], gradients.get(numbers.get(number)), None, why)


def _inputs_of_node(call: Call) -> dict[int, int]:
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


def _again(call: Call, received: Sequence[object]) -> dict[int, torch.Tensor]:
    """The gradients of a replay, by the number of the input."""
    adapter = call.region.adapter
    inputs, leaves = call.inputs_again(), {}
    for number, value in enumerate(inputs):
        if isinstance(value, torch.Tensor) and call.inputs[number].requires_grad:
            leaves[number] = value.detach().requires_grad_()
            # What is written in place must not be a leaf.
            written = number in call.copies
            inputs[number] = adapter.quietly(leaves[number].clone) if written else leaves[number]
    on, dtype = call.autocast
    with torch.enable_grad(), torch.autocast("cpu", dtype, enabled=on):
        results = call.again(inputs)
    roots, gradients = [], []
    for number, place in call.edges:
        if received[place] is not None and results[number].requires_grad:
            roots.append(results[number])
            gradients.append(received[place])
    others = [place for place, value in enumerate(received) if value is not None]
    if len(others) > len(roots):
        raise CannotReplay(BY_WAYS)
    if not roots or not leaves:
        return {}
    # The engine itself: for the watch this is still the backward that the program began.
    found = torch.autograd.Variable._execution_engine.run_backward(
        tuple(roots),
        tuple(gradients),
        False,
        False,
        tuple(leaves.values()),
        allow_unreachable=True,
        accumulate_grad=False,
    )
    return dict(zip(leaves, found, strict=True))
