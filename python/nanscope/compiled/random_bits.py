"""The random numbers of a compiled call, drawn again for its replay.

Inductor takes one seed of the program's generator for each op that draws, in the order of the
program, and computes the numbers from the seed (`random_bits.cc`). Other backends, and ops that
inductor leaves to torch, draw from the generator itself. Either way the generator must end where
the call had left it; otherwise the numbers were others, and nothing may be said of the replay.
"""

from __future__ import annotations

from contextlib import contextmanager

import torch

from nanscope.compiled import generators
from nanscope.compiled.dispatch_mode import DispatchMode
from nanscope.compiled.repeatable import NAMESPACES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nanscope.compiled.graphs import KeptGraph

aten = torch.ops.aten


class OtherNumbers(Exception):
    """The replay did not draw what the call drew."""


@contextmanager
def the_same(adapter, graph: KeptGraph, before, after, seeded: bool):
    """Draws what was drawn between these two states of the generator; leaves it as it is now.

    `seeded`: as a kernel of inductor would.
    """
    if before is None or not graph.draws:
        yield
        return
    with drawn_from(graph, before) as others:
        if seeded:
            seeds = _Seeded(adapter)
            with seeds:
                yield
            if seeds.drawn and seeds.left_to_torch:
                raise OtherNumbers  # inductor takes its seeds first
        else:
            yield
        # `after`: not known of a call that raised.
        moved = after is not None and not torch.equal(torch.get_rng_state(), after)
        if moved or others.others_moved():
            raise OtherNumbers


@contextmanager
def drawn_from(graph: KeptGraph, before):
    """The generator of the CPU as it was, if that is known; leaves all as they are now."""
    with generators.left_alone(graph) as now:
        if now is not None and before is not None:
            torch.set_rng_state(before)
        yield now


class _Seeded(DispatchMode):
    def __init__(self, adapter) -> None:
        super().__init__()
        self.adapter = adapter
        self.drawn = 0  # seeds
        self.left_to_torch = 0  # calls

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if torch.Tag.nondeterministic_seeded in op.tags:
            draw = _DRAWS.get(op)
            if draw is not None and kwargs.get("generator") is None:
                return draw(self, op, *args, **kwargs)
            self.left_to_torch += 1
        elif op.namespace not in NAMESPACES:
            return self._of_others(op, args, kwargs)
        return op._op(*args, **kwargs)  # without a frame of torch

    def _of_others(self, op, args, kwargs):
        """It may draw without saying so."""
        before = torch.get_rng_state()
        result = op._op(*args, **kwargs)
        self.left_to_torch += not torch.equal(torch.get_rng_state(), before)
        return result

    def _seed(self) -> int:
        self.drawn += 1
        seed = torch.empty(1, dtype=torch.int64)
        aten.randint.low_out(-(2**63), 2**63 - 1, [1], out=seed)
        return seed.item()

    def uniform(self, size) -> torch.Tensor:
        return self._filled(size, self.adapter.fill_uniform)

    def normal(self, size) -> torch.Tensor:
        return self._filled(size, self.adapter.fill_normal)

    def _filled(self, size, fill) -> torch.Tensor:
        numbers = torch.empty([int(n) for n in size], dtype=torch.float32)
        fill(numbers, self._seed())
        return numbers

    def integers(self, low: int, high: int, size) -> torch.Tensor:
        numbers = torch.empty([int(n) for n in size], dtype=torch.int64)
        self.adapter.fill_integers(numbers, self._seed(), int(low), int(high))
        return numbers


def _quietly(draw):
    """What is drawn is drawn by one op of the program, whatever we do for it."""

    def drawn(mode, *given, **options):
        return mode.adapter.quietly(draw, mode, *given, **options)

    return drawn


@_quietly
def _rand(mode, op, size, *, dtype=None, **_):
    return mode.uniform(size).to(dtype or torch.get_default_dtype())


@_quietly
def _randn(mode, op, size, *, dtype=None, **_):
    return mode.normal(size).to(dtype or torch.get_default_dtype())


@_quietly
def _rand_like(mode, op, like, *, dtype=None, **_):
    return _as(mode.uniform(like.shape), like, dtype)


@_quietly
def _randn_like(mode, op, like, *, dtype=None, **_):
    return _as(mode.normal(like.shape), like, dtype)


@_quietly
def _randint(mode, op, high, size, *, dtype=None, **_):
    return mode.integers(0, high, size).to(dtype or torch.int64)


@_quietly
def _randint_from(mode, op, low, high, size, *, dtype=None, **_):
    return mode.integers(low, high, size).to(dtype or torch.int64)


@_quietly
def _bernoulli_in_place(mode, op, target, p=0.5, **_):
    """Dropout, too, draws by it: its CPU kernel asks what is kept; inductor, what is dropped."""
    uniform = mode.uniform(target.shape).to(target.dtype)
    kept = uniform > 1 - p if mode_of_dropout() else uniform < p
    return target.copy_(kept)


def _as(numbers: torch.Tensor, like: torch.Tensor, dtype) -> torch.Tensor:
    made = torch.empty_like(like, dtype=dtype or like.dtype)
    return made.copy_(numbers)


def mode_of_dropout() -> bool:
    """Whether the op that draws is one of torch's dropouts: its Python frame is not far."""
    import sys

    frame = sys._getframe()
    while frame is not None and frame.f_code.co_name != "run":
        if "dropout" in frame.f_code.co_name:
            return True
        frame = frame.f_back
    return False


_DRAWS = {
    aten.rand.default: _rand,
    aten.randn.default: _randn,
    aten.rand_like.default: _rand_like,
    aten.randn_like.default: _randn_like,
    aten.randint.default: _randint,
    aten.randint.low: _randint_from,
    aten.bernoulli_.float: _bernoulli_in_place,
}
