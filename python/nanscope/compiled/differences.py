"""A value that only the compiled form of a region gives: which kernel wrote it, what differs from
eager, and which setting takes it away.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import NamedTuple

import torch

from nanscope.compiled import wide
from nanscope.compiled.kernels import Kernel, KernelSearch
from nanscope.compiled.reasons import NOT_REPEATED, ONLY_COMPILED, UNWRITTEN, CannotReplay
from nanscope.compiled.recompiled import Recompiled, worth_trying
from nanscope.compiled.unwritten import Unwritten
from nanscope.compiled.ways import by_the_compiler, eagerly
from nanscope.telling.stack import display_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nanscope.compiled.region import RegionCall

    Way = Callable[[RegionCall, list[object]], tuple]
    Recompute = Callable[[Way], list[object]]

MOST_LINES = 8


class Known(NamedTuple):
    """As `OnlyCompiled` of the adapter has it."""

    kernel: str
    lines: list[tuple[str, int]]
    rounded_to: str
    setting: str
    setting_value: str


class Widely:
    """Eagerly, with float32 in the place of half precision."""

    def __init__(self, adapter) -> None:
        self.mode = wide.Wide(adapter)
        self.is_on = False

    def __call__(self, call: RegionCall, inputs: list[object]) -> tuple:
        with self.around():
            return eagerly(call, inputs)

    def leaf_of(self, tensor: torch.Tensor) -> torch.Tensor:
        """The engine would round its gradient to its type."""
        return self.mode.widened(tensor.detach())

    @contextmanager
    def around(self):
        """Also of a backward behind it."""
        if self.is_on:
            yield
            return
        self.is_on = True
        try:
            with self.mode:
                yield
        finally:
            self.is_on = False


class Found(NamedTuple):
    known: Known | None  # None: it may be something else
    why: str  # what is said where no replay shows it
    shown: list[object] | None  # the same results of a replay that shows them
    way: Way | None = None  # that replay, where memory that nobody has written is behind it


def search(call: RegionCall, key: tuple, results: Sequence[object], recompute: Recompute) -> Found:
    """`recompute(way)` computes the results once more, in one of the ways of ways.py; `key` says
    which they are, so that the same are not looked into twice.
    """
    adapter, found = call.region.adapter, call.region.found
    if key not in found:
        found[key] = adapter.quietly(_explore, call, results, recompute)
    way, known = found[key].way, found[key].known
    if way is not None:
        try:
            return found[key]._replace(shown=recompute(way))
        except CannotReplay:
            return found[key]
    if known is None or not known.rounded_to:
        return found[key]
    try:
        shown = adapter.as_compiled(known, recompute, Widely(adapter))
    except CannotReplay:
        shown = None
    return found[key]._replace(shown=shown)


def _explore(call: RegionCall, results: Sequence[object], recompute: Recompute) -> Found:
    unwritten = _unwritten(call, results, recompute)
    if unwritten is not None:
        return Found(None, UNWRITTEN, None, unwritten)
    kernels = KernelSearch()
    try:
        with kernels:
            again = recompute(by_the_compiler)
    except CannotReplay:
        return Found(None, ONLY_COMPILED, None)
    if not any(map(is_bad_alike, results, again)):
        return Found(None, NOT_REPEATED, None)
    met, rounded_to = _rounded_to(call, results, recompute)
    setting = _cure(call, results, recompute, bool(met))
    kernel = kernels.first if kernels.first.name else Kernel("", tuple(call.region.graph.lines))
    known = Known(
        kernel.name,
        [(display_path(file), line) for file, line in kernel.lines[:MOST_LINES]],
        rounded_to,
        setting.name if setting else "",
        repr(setting.value) if setting else "",
    )
    return Found(known, ONLY_COMPILED, None)


def _unwritten(
    call: RegionCall, results: Sequence[object], recompute: Recompute
) -> Unwritten | None:
    if not call.region.graph.allocates:
        return None
    is_nan = any(bool(torch.isnan(result.detach()).any()) for result in results)
    way = Unwritten(call.region.adapter, float("nan" if is_nan else "inf"))
    try:
        shown = recompute(way)
    except CannotReplay:
        return None
    return way if all(map(is_bad_alike, results, shown)) else None


def _rounded_to(
    call: RegionCall, results: Sequence[object], recompute: Recompute
) -> tuple[str, str]:
    """The type of half precision that is met; and again, if float32 in its place shows all."""
    way = Widely(call.region.adapter)
    try:
        shown = recompute(way)
    except CannotReplay:
        return way.mode.rounded_to, ""
    met = way.mode.rounded_to
    return met, met if all(map(is_bad_alike, results, shown)) else ""


def _cure(call: RegionCall, results: Sequence[object], recompute: Recompute, is_half: bool):
    for setting in worth_trying(call, is_half):
        try:
            shown = recompute(Recompiled(setting))
        except CannotReplay:
            continue
        if all(map(is_finite_there, results, shown)):
            return setting
    return None


def is_bad_alike(result: object, other: object) -> bool:
    """Whether an element is bad in both."""
    if not isinstance(other, torch.Tensor) or other.shape != result.shape:
        return False
    return bool((~torch.isfinite(result.detach()) & ~torch.isfinite(other.detach())).any())


def explains(result: torch.Tensor, other: object) -> bool:
    """Whether the other shows what is bad in the result."""
    if not is_bad_alike(result, other):
        return False
    result, other = result.detach(), other.detach()
    shows_nan = bool(torch.isnan(other).any()) or not bool(torch.isnan(result).any())
    shows_inf = bool(torch.isinf(other).any()) or not bool(torch.isinf(result).any())
    return (shows_nan and shows_inf) or is_nan_where_bad(result, other)


def is_nan_where_bad(result: torch.Tensor, other: torch.Tensor) -> bool:
    """What is not finite came out otherwise: as NaN wherever the result is NaN or Inf."""
    return not bool((~torch.isfinite(result.detach()) & ~torch.isnan(other.detach())).any())


def is_bad(value: object) -> bool:
    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return False
    return not bool(torch.isfinite(value.detach()).all())


def is_near(result: torch.Tensor, other: object) -> bool:
    """Whether they are the same but for rounding."""
    if not isinstance(other, torch.Tensor) or other.shape != result.shape:
        return False
    if result.layout is not torch.strided or other.dtype != result.dtype:
        return False
    return torch.allclose(other.detach(), result.detach(), rtol=1e-2)


def is_finite_there(result: object, other: object) -> bool:
    """Whether all is finite."""
    if not isinstance(other, torch.Tensor) or other.shape != result.shape:
        return False
    return bool(torch.isfinite(other.detach()).all())
