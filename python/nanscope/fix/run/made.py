"""In a child: makes healthy values near those that a patched expression met.

Where no healthy value went through it in the run, nothing is known of what the patch does to one.
So the operands are moved: numbers to others that the program could be given, elements by a
part of themselves, zeros and infinities to the size of the rest. Where the original is finite on
those, in its own type and in float64, the patch must give the same.
"""

from __future__ import annotations

import math

from nanscope.fix.run.values import gradients, is_wider

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

VARIANTS = 12
NEAR = 6  # of them stay near the values that were seen; the others are of all sizes
NUMBERS = (0.1, 0.5, 1.0, 2.0, 0.01, 0.05, 0.3, 0.7, 1.5, 5.0, 10.0, 100.0)
FLOOR = 1e-3  # an element counts as at least this part of the largest
COUNTS = (1, 2, 3, 10, 4, 5, 7, 16, 100, 6, 8, 9)


def neighbours(values) -> Iterator[list]:
    """Gives the values again and again, each time others near them."""
    import torch

    generator = torch.Generator().manual_seed(0)
    for i in range(VARIANTS):
        yield [_moved(value, i, generator) for value in values]
    for i in range(2):  # one element, or none, where several would be healthy
        yield [_moved(_widened(value), NEAR + i, generator) for value in values]


def numbers_moved(values) -> Iterator[list]:
    """Gives them with other numbers of Python only: what options of a program allow."""
    if any(_is_number(value) for value in values):
        for i in range(VARIANTS):
            yield [_moved_number(v, i) if _is_number(v) else v for v in values]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _moved_number(value: int | float, i: int) -> int | float:
    if isinstance(value, int):
        return COUNTS[i] if value == 0 else value * COUNTS[i]
    is_usable = math.isfinite(value) and value != 0
    return NUMBERS[i] * (value if is_usable else 1.0)


def _moved(value: object, i: int, generator) -> object:
    import torch

    if _is_number(value):
        return _moved_number(value, i)
    if not isinstance(value, torch.Tensor) or value.layout != torch.strided:
        return value
    if value.is_complex() or value.device.type != "cpu":
        return value
    if value.is_floating_point():
        return _moved_elements(value, i, generator)
    zero = value == 0
    if value.dtype == torch.bool:
        return value | zero if i % 2 else value
    if i % 3 == 2:
        return value.clamp(max=1)
    drawn = torch.randint(1, 10, value.shape, generator=generator).to(value.dtype)
    return torch.where(zero, drawn, value) if i % 3 == 1 else value


def _widened(value: object) -> object:
    """Sides of one element, or of none, have three."""
    import torch

    if not isinstance(value, torch.Tensor) or value.layout != torch.strided or value.dim() == 0:
        return value
    wide = [3 if side < 2 else side for side in value.shape]
    if value.numel() == 0:
        return torch.ones(wide, dtype=value.dtype).requires_grad_(value.requires_grad)
    return value.detach().expand(wide).clone().requires_grad_(value.requires_grad)


def _moved_elements(value, i: int, generator):
    """Moves each element by a part of itself; what is 0 or not finite becomes as large as the
    others, or of order one if there are none.
    """
    import torch

    plain = value.detach().double()
    usable = torch.isfinite(plain) & (plain != 0)
    size = float(plain[usable].abs().median()) if bool(usable.any()) else 1.0
    spread = 0.02 * (i + 1) if i < NEAR else 0.5
    drawn = torch.randn(plain.shape, generator=generator, dtype=torch.float64)
    drawn = drawn.clamp(-1.9, 1.9)
    moved = torch.where(usable, plain * (1 + spread * drawn), size * torch.exp(spread * drawn))
    return moved.to(value.dtype).requires_grad_(value.requires_grad)


def excess(original: Callable, patched: Callable, values: list) -> tuple[int, float, tuple]:
    """How many elements the original has healthy there, and by how much more than the original the
    patch departs from what the original gives in float64, relative; with the two values. So too
    of the slopes.
    """
    import torch

    before, after = original(*values), patched(*values)
    wide_values = [_leaf(value) for value in values]
    exact = original(*wide_values)
    results = (before, after, exact)
    if not all(isinstance(x, torch.Tensor) and x.is_floating_point() for x in results):
        return 0, 0.0, ("", "")
    if not before.shape == after.shape == exact.shape:
        return 0, 0.0, ("", "")
    if is_wider(after, before):  # what it would be in the narrow type
        after = after.to(before.dtype)
    slopes = gradients(before, values), gradients(after, values), gradients(exact, wide_values)
    spoiled = torch.zeros_like(before, dtype=torch.bool)  # at the edge of a domain
    for slope in slopes[0]:
        if slope is not None and slope.shape == before.shape:
            spoiled |= ~torch.isfinite(slope)
    count, worst, pair = _departure(before, after, exact, spoiled)
    for one in zip(*slopes, strict=True):
        if count and all(slope is not None for slope in one):
            _, more, slope_pair = _departure(*one)
            if more > worst:
                worst, pair = more, tuple(f"a slope of {x}" for x in slope_pair)
    return count, worst, pair


def _leaf(value: object) -> object:
    import torch

    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return value
    return value.detach().double().requires_grad_(value.requires_grad)


def _departure(before, after, exact, spoiled=None) -> tuple[int, float, tuple]:
    import torch

    before, after, exact = (x.detach().double() for x in (before, after, exact))
    healthy = torch.isfinite(before) & torch.isfinite(exact)
    healthy = healthy if spoiled is None else healthy & ~spoiled
    count = int(healthy.sum())
    if count == 0:
        return 0, 0.0, ("", "")
    before, after, exact = before[healthy], after[healthy], exact[healthy]
    scale = before.abs().clamp(min=float(before.abs().max()) * FLOOR or 1.0)
    more = ((after - exact).abs() - (before - exact).abs()) / scale
    more = more.nan_to_num(nan=math.inf)
    worst = int(more.argmax())
    return count, float(more[worst]), (f"{before[worst]:g}", f"{after[worst]:g}")
