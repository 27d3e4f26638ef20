"""`forward_hooks`: which module made the first NaN or Inf, by hooks on every module.

A module is the producer if its output holds a kind of value that its inputs do not explain: NaN
where no input has NaN, Inf where none has NaN or Inf. Inputs are looked at before forward runs,
for it may overwrite them. The innermost producer is reported first: its hook runs first. Those
above it, whose output is bad because it is inside, and those after it, whose inputs are bad, are
reported under other roles.

Hooks see module boundaries and nothing else: no op, no line, no backward, and they cannot tell a
mask from a mistake. `watch` can.
"""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass, field
from typing import Literal

from nanscope.api.leaves import leaves_of
from nanscope.api.statistics import Stats, counted, number, stats_of
from nanscope.errors import CheckFailed, Unreadable, kind_of
from nanscope.outside.arrays import array_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

MOST_DOWNSTREAM = 1000


@dataclass(frozen=True)
class ModuleFinding:
    """A module whose output was not finite.

    role      "producer", "around" (the producer is inside it) or "downstream"
    module    its path in the model: `encoder.layers.3.norm`; "" for the model itself
    kind      its class
    call      the how-manieth call of this module it was, from 1
    outputs   what was not finite in its output: `output[0].logits`
    inputs    all arrays that went in, by their paths: `input[0]`, `mask`
    weights   its own parameters that are not finite: then those are the cause
    """

    role: Literal["producer", "around", "downstream"]
    module: str
    kind: str
    call: int
    outputs: tuple[Stats, ...]
    inputs: tuple[Stats, ...] = ()
    weights: tuple[Stats, ...] = ()

    def __str__(self) -> str:
        lines = [
            f"{self.module or 'the model'} ({self.kind}), call {self.call}, {ROLES[self.role]}"
        ]
        lines += [f"  {s.name}: {_described(s)}" for s in (*self.outputs, *self.inputs)]
        lines += [f"  its parameter {s.name}: {_described(s)}" for s in self.weights]
        return "\n".join(lines)


ROLES = {
    "producer": "made the first value that is not finite",
    "around": "has the producer inside",
    "downstream": "was given values that were not finite",
}


@dataclass
class _Call:
    """A module that is running."""

    module: torch.nn.Module
    has_nan: bool
    has_inf: bool
    inputs: tuple[Stats, ...]
    produced_inside: bool = False


@dataclass
class ForwardHooks:
    """Hooks on every module of a model, until `remove()`, the end of the block, or a raise."""

    model: torch.nn.Module
    on_find: Literal["raise", "report"] | Callable[[ModuleFinding], object] = "raise"
    producer: ModuleFinding | None = None
    others: list[ModuleFinding] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._paths: dict[int, str] = {}
        self._calls: dict[int, int] = {}
        self._running = threading.local()
        self._handles: list = []
        for path, module in self.model.named_modules():
            self._paths[id(module)] = path
            self._handles.append(module.register_forward_pre_hook(self._before, with_kwargs=True))
            self._handles.append(
                module.register_forward_hook(self._after, with_kwargs=True, always_call=True)
            )

    def __enter__(self) -> ForwardHooks:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()

    @property
    def ok(self) -> bool:
        return self.producer is None and not self.others

    def remove(self) -> None:
        """Takes every hook away again; more than once is fine."""
        handles, self._handles = self._handles, []
        for handle in handles:
            handle.remove()

    def __str__(self) -> str:
        if self.ok:
            calls = sum(self._calls.values())
            return f"forward_hooks: every output was finite, in {calls} calls of modules"
        found = [self.producer] if self.producer else []
        return "\n".join(map(str, found + self.others))

    # ------------------------------------------------------------------------- the hooks
    def _stack(self) -> list[_Call]:
        if not hasattr(self._running, "stack"):
            self._running.stack = []
        return self._running.stack

    def _before(self, module, args: tuple, kwargs: dict) -> None:
        self._calls[id(module)] = self._calls.get(id(module), 0) + 1
        nan, inf, bad = _look([*_inputs(args, kwargs)])
        inputs = tuple(bad) if bad else ()
        self._stack().append(_Call(module, nan, inf, inputs))

    def _after(self, module, args: tuple, kwargs: dict, output: object) -> None:
        stack = self._stack()
        call = stack.pop()
        while call.module is not module:  # a hook of someone else raised in between
            call = stack.pop()
        nan, inf, bad = _look(leaves_of(output, "output"))
        if not bad:
            return
        role = _role(call, nan, inf)
        if stack:
            stack[-1].produced_inside |= role != "downstream" or call.produced_inside
        # NaN that came in from outside is worth a word too; a mask's -Inf is not.
        first = role == "producer" if self.others else role == "producer" or nan
        self._found(role, call, tuple(bad), first and self.producer is None, args, kwargs)

    def _found(self, role, call: _Call, outputs, first: bool, args, kwargs) -> None:
        if not first and len(self.others) >= MOST_DOWNSTREAM:
            return
        finding = ModuleFinding(
            role,
            self._paths.get(id(call.module), "?"),
            type(call.module).__name__,
            self._calls[id(call.module)],
            outputs,
            call.inputs or tuple(_stats(_inputs(args, kwargs))) if first else call.inputs,
            _bad_parameters(call.module) if first else (),
        )
        if role == "producer" and first:
            self.producer = finding
        else:
            self.others.append(finding)
        if not first:
            return
        if callable(self.on_find):
            self.on_find(finding)
        elif self.on_find == "raise":
            self.remove()
            raise CheckFailed(str(finding), finding.module, outputs[0])


def forward_hooks(
    model: torch.nn.Module,
    on_find: Literal["raise", "report"] | Callable[[ModuleFinding], object] = "raise",
) -> ForwardHooks:
    """Hooks every module of `model`, to name the one that makes the first NaN or Inf.

    A context manager. "raise" raises `CheckFailed` from the producer's call, or from the first
    module that was given a NaN from outside; "report" goes on, and `.producer` and `.others` tell;
    a callable is given the finding.
    """
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(model, torch.nn.Module):
        raise Unreadable(f"forward_hooks takes a torch.nn.Module, not {kind_of(model)}.")
    if not callable(on_find) and on_find not in ("raise", "report"):
        raise ValueError(f'on_find is "raise", "report" or a function, not {on_find!r}.')
    return ForwardHooks(model, on_find)


def _role(call: _Call, nan: bool, inf: bool) -> Literal["producer", "around", "downstream"]:
    if call.produced_inside:
        return "around"
    explained = (not nan or call.has_nan) and (not inf or call.has_nan or call.has_inf)
    return "downstream" if explained else "producer"


def _inputs(args: tuple, kwargs: dict):
    for i, value in enumerate(args):
        yield from leaves_of(value, f"input[{i}]")
    for name, value in kwargs.items():
        yield from leaves_of(value, name)


def _look(leaves) -> tuple[bool, bool, list[Stats]]:
    """Whether there is NaN, whether Inf, and what holds them. What nobody can read is left out."""
    nan = inf = False
    bad = []
    for path, leaf in leaves:
        try:
            array = array_of(leaf, path)
        except Unreadable:
            continue
        if array is None or array.all_finite():
            continue
        has_nan, has_inf = array.kinds()
        nan, inf = nan or has_nan, inf or has_inf
        bad.append(stats_of(leaf, path))
    return nan, inf, bad


def _stats(leaves):
    for path, leaf in leaves:
        try:
            yield stats_of(leaf, path)
        except Unreadable:
            continue


def _bad_parameters(module: torch.nn.Module) -> tuple[Stats, ...]:
    named = module.named_parameters(recurse=False)
    return tuple(s for s in _stats(named) if not s.ok)


def _described(s: Stats) -> str:
    shape = f"{s.dtype} {list(s.shape)}"
    if not s.ok:
        first = f", the first at {list(s.indices[0])}" if s.indices[0] else ""
        return f"{shape}, {counted(s)}{first}"
    return f"{shape}, from {number(s.min)} to {number(s.max)}" if s.max is not None else shape
