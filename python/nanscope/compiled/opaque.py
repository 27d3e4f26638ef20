"""Compiled code that holds no graph: looked at where its results come out, never replayed."""

from __future__ import annotations

from torch.utils._pytree import tree_leaves

from nanscope.compiled.differences import is_bad
from nanscope.compiled.reasons import FAULT, MADE_BY_OPAQUE
from nanscope.errors import NonFiniteError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from nanscope.compiled.attach import Compiler


def look_at(compiler: Compiler, why: str, run: Callable, *args, **kwargs):
    """Calls it; what it gives is looked at. `why`: no replay can be made."""
    results = compiler.adapter.quietly(run, *args, **kwargs)
    try:
        _tell(compiler, why, tree_leaves((args[1:], kwargs)), tree_leaves(results))
    except NonFiniteError:
        raise
    except Exception as error:
        compiler.count(FAULT.format(error))
    return results


def _tell(compiler: Compiler, why: str, inputs: list, results: list) -> None:
    adapter = compiler.adapter
    bad, _ = adapter.look_at_region(results)
    if not bad:
        return
    given = [value for value in inputs if adapter.quietly(is_bad, value)]
    if given and not adapter.is_any_known_bad(given):
        compiler.count(why)  # whose it is shows where it is read next, and is never certain
        return
    known = next((value for value in given if adapter.is_any_known_bad([value])), None)
    for place in bad:
        adapter.tell_region(
            result=results[place],
            replayed=known,
            inf_was_nan=False,
            before=None,
            why=MADE_BY_OPAQUE.format(why),
            only=None,
        )
    adapter.stop_for_region()
