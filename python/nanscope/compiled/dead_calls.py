"""Calls of a graph that nobody asks for: AOTAutograd leaves them out, and so must a replay.

What they would draw or refuse (`torch.multinomial` of NaN) happened in no compiled program. Only
calls that are known to write nothing are dead.
"""

from __future__ import annotations

import inspect
import operator
from types import BuiltinFunctionType

import torch
import torch.nn.functional as F

from nanscope.telling.functions import is_called_like

TYPE_CHECKING = False
if TYPE_CHECKING:
    from torch.fx import Graph, Node

PURE = "nanscope_pure"  # of a node's `meta`
METHODS = frozenset(("backward", "data", "register_hook", "retain_grad", "resize", "set_data"))


def is_pure(node: Node) -> bool:
    """It writes none of what it is given, whatever else it does."""
    if "out" in node.kwargs:
        return False
    if node.op == "call_method":
        return not node.target.endswith("_") and node.target not in METHODS
    target = node.target
    name = getattr(target, "__name__", "")
    if node.op != "call_function" or name.endswith("_") or is_called_like("writes", name):
        return False
    if getattr(operator, name, None) is target:
        return not (name.startswith("i") and hasattr(operator, f"__{name[1:]}__"))
    if isinstance(target, BuiltinFunctionType):
        known = getattr(torch, name, None), getattr(F, name, None)
        return not name.startswith("_") and target in known
    return getattr(F, name, None) is target and not _is_in_place(node)


def _is_in_place(node: Node) -> bool:
    try:
        given = inspect.signature(node.target).bind(*node.args, **node.kwargs).arguments
    except (TypeError, ValueError):
        return True
    return given.get("inplace", False) is not False


def leave_out(graph: Graph) -> bool:
    """Whether any was dead."""
    dead = 0
    for node in reversed(graph.nodes):
        if node.meta.get(PURE) and not node.users:
            graph.erase_node(node)
            dead += 1
    return dead > 0
