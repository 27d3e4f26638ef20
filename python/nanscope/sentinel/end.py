"""The look at the end of a program, however it comes: is there anything to run again for?"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from nanscope.moments.held import Raised
    from nanscope.run.ending import Ending


def suspicion(
    adapter: ModuleType,
    ending: Ending,
    raised: Raised | None,
    held: Callable[[], list[tuple[str, object]]],
) -> str | None:
    """What is not as it should be; whether it is an error, the exact watch will tell."""
    loss, gradient, read = adapter.sentinel_unsettled()
    if loss:
        return "the last loss is not finite"
    if gradient:
        return "a gradient, parameter, buffer or an optimizer's state is not finite"
    if read:
        return "the program read a value that is not finite"
    if raised is not None and not raised.blunder and not raised.exits:
        return "the program raised an exception"
    if raised is not None and adapter.any_bad(raised.tensors):
        return "the program raised an exception beside a value that is not finite"
    if ending.kind == "normally" and ending.status:
        return f"the program ended with status {ending.status}"
    return _held_bad(adapter, held())


def _held_bad(adapter: ModuleType, held: list[tuple[str, object]]) -> str | None:
    """In a program that takes steps, only what a gradient could flow through: no mask is meant."""
    steps = adapter.sentinel_counts()[2]
    for name, tensor in held:
        if (steps == 0 or tensor.grad_fn is not None) and adapter.any_bad([tensor]):
            return f"{name or 'a tensor'} is not finite"
    return None
