"""Which calls of a graph may run a second time without the program noticing.

An op of torch computes the same again, and draws only from generators that a replay puts back. A
custom op, or a function that is allowed in a graph, may print, count, or write what nobody sees.
"""

from __future__ import annotations

import re

import torch

from nanscope.compiled.dead_calls import METHODS, PURE
from nanscope.telling.functions import is_called_like

TYPE_CHECKING = False
if TYPE_CHECKING:
    from torch.fx import Graph, Node

OF_TORCH = "nanscope_of_torch"  # of a node's `meta`
NAMESPACES = frozenset(("aten", "prims", "prim", "quantized"))
_HIGHER_ORDER = frozenset(
    (
        "associative_scan",
        "autograd_function_apply",
        "cond",
        "flex_attention",
        "flex_attention_backward",
        "invoke_subgraph",
        "map_impl",
        "scan",
        "strict_mode",
        "tag_activation_checkpoint",
        "while_loop",
        "wrap",
        "wrap_activation_checkpoint",
        "wrap_with_autocast",
        "wrap_with_set_grad_enabled",
    )
)
_MODULES = re.compile(r"(_operator|math|torch|builtins)(\.|$)")
_CALLERS = re.compile(r"torch\.(distributed|library|_library|_dynamo(?!\.compiled_autograd))(\.|$)")


def is_of_torch(node: Node) -> bool:
    """It calls nothing of the program's, and nothing of another library."""
    if node.op == "call_method":
        return hasattr(torch.Tensor, node.target) and node.target not in METHODS
    return node.op != "call_function" or _is_function_of_torch(node.target)


def _is_function_of_torch(target: object) -> bool:
    if isinstance(target, torch._ops.HigherOrderOperator):
        return target.name() in _HIGHER_ORDER  # what they call is a graph, and asked by itself
    if isinstance(target, torch._ops.OpOverload):
        return target.namespace in NAMESPACES
    if isinstance(target, torch._ops.OpOverloadPacket):
        return target._qualified_op_name.split("::")[0] in NAMESPACES
    module = getattr(target, "__module__", None)
    if module is None:  # a method of a type that is written in C
        owner = getattr(target, "__objclass__", type(getattr(target, "__self__", None)))
        module = owner.__module__
    return target is not print and bool(_MODULES.match(module)) and not _CALLERS.match(module)


def results_of_divisions(graph: Graph, name_of) -> frozenset[int] | None:
    """Which results, by number, have a division behind them. None: any of them may.

    `name_of(node)` is what a call is called.
    """
    behind: dict[Node, bool] = {}
    for node in graph.nodes:
        if node.op == "output":
            results = node.args[0] if isinstance(node.args[0], (list, tuple)) else node.args
            found = (i for i, result in enumerate(results) if behind.get(result, False))
            return frozenset(found)
        called = node.op.startswith("call_")
        divides = called and is_called_like("divides", name_of(node))
        divides = divides or node.op == "get_attr"  # a graph of its own
        behind[node] = divides or any(map(behind.get, node.all_input_nodes))
        if called and behind[node] and not node.meta.get(PURE):
            return None  # what it may write is read by others, whoever they are
    return frozenset()
