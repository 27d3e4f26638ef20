"""The graph that a compiler was given, kept so that it can be run again, each call at its line."""

from __future__ import annotations

import operator

from nanscope.compiled import dead_calls, frames, repeatable
from nanscope.compiled.reasons import MODULES, TALKS
from nanscope.telling.functions import is_called_like

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch.fx import GraphModule, Node

PLACES = "nanscope_places"  # of a node's `meta`


class KeptGraph:
    """`run(*held, *inputs)` is what the region computes, by eager ops.

    `held` are the tensors that the graph has as its own, as AOTAutograd counts them: an optimizer's
    state. They are inputs here, so that a replay can have others in their place.
    """

    def __init__(self, module: GraphModule) -> None:
        named = [*module.named_parameters(remove_duplicate=False)]
        named += module.named_buffers(remove_duplicate=False)
        self.held = [tensor for _, tensor in named]
        self.run = _framed(module, [name for name, _ in named])
        self.lines = _lines(module)
        self.inputs = sum(node.op == "placeholder" for node in self.run.graph.nodes)
        self._read_calls()

    def _read_calls(self) -> None:
        names = [name_of(node) for node in _calls(self.run)]
        self.size = len(names)  # calls
        # Nobody would notice, but by the generators that it draws from.
        self.may_be_repeated = all(n.meta.get(repeatable.OF_TORCH, False) for n in _nodes(self.run))
        self.draws = not self.may_be_repeated or _any_like("draws", names)
        self.divides = repeatable.results_of_divisions(self.run.graph, name_of)
        self.allocates = _any_like("allocates", names)  # memory that it may not write
        self.obstacle = TALKS if _any_like("talks", names) else ""
        if any(node.op == "call_module" for node in _calls(self.run)):
            self.obstacle = MODULES

    def leave_out_dead(self) -> None:
        """As AOTAutograd does."""
        for module in [self.run, *_parts(self.run)]:
            if dead_calls.leave_out(module.graph):
                module.recompile()
        self._read_calls()

    def may_divide_away(self, result: int) -> bool:
        """Whether this result, by number, may be zero because something was divided by an Inf."""
        return self.divides is None or result in self.divides

    @property
    def is_empty(self) -> bool:
        return next(iter(_calls(self.run)), None) is None


def forget_places(module: GraphModule) -> None:
    """They are nobody's else: caches look at graphs."""
    for node in _nodes(module):
        node.meta.pop(PLACES, None)


def _framed(module: GraphModule, held: list[str]) -> GraphModule:
    import torch.fx

    graph, copies = torch.fx.Graph(), {}
    lifted = {name: graph.placeholder(f"held_{i}") for i, name in enumerate(held)}
    for node in module.graph.nodes:
        if node.op == "get_attr" and node.target in lifted:
            copies[node] = lifted[node.target]
    graph.output(graph.graph_copy(module.graph, copies))
    for number, node in enumerate(graph.nodes):
        places = node.meta.get(PLACES)
        # Not the values that it was traced with.
        node.meta = {
            dead_calls.PURE: dead_calls.is_pure(node),
            repeatable.OF_TORCH: repeatable.is_of_torch(node),
        }
        if places and node.op == "call_function" and node.target is not operator.getitem:
            node.meta["name"] = name_of(node)
            node.target = frames.calling(node.target, places, number)
        elif places and node.op == "call_method":
            node.meta["name"] = node.target
            node.op, node.target = (
                "call_function",
                frames.calling_method(node.target, places, number),
            )
    framed = torch.fx.GraphModule(module, graph)
    for name, part in list(framed.named_children()):
        if isinstance(part, torch.fx.GraphModule):  # the branches of a cond, a checkpointed block
            setattr(framed, name, _framed(part, []))
    return framed


def _parts(module: GraphModule) -> Iterator[GraphModule]:
    """The graphs inside it."""
    import torch.fx

    for part in module.children():
        if isinstance(part, torch.fx.GraphModule):
            yield part
            yield from _parts(part)


def _nodes(module: GraphModule) -> Iterator[Node]:
    for each in [module, *_parts(module)]:
        yield from each.graph.nodes


def _calls(module: GraphModule) -> Iterator[Node]:
    return (node for node in _nodes(module) if node.op.startswith("call_"))


def _any_like(trait: str, names: list[str]) -> bool:
    return any(is_called_like(trait, name) for name in names)


def name_of(node: Node) -> str:
    return node.meta.get("name") or str(getattr(node.target, "__name__", node.target))


def _lines(module: GraphModule) -> list[tuple[str, int]]:
    """Which (file, line) of the program it came from, each once, in the order of the graph."""
    from nanscope.telling.stack import is_user_code

    lines: dict[tuple[str, int], None] = {}
    for node in _nodes(module):
        own = (p for p in node.meta.get(PLACES, ()) if is_user_code(p.file))
        place = next(own, None)
        if place is not None:
            lines[place.file, place.line] = None
    return list(lines)
