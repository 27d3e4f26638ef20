"""In a child: has the original a limit where it failed?

`min(x, g) / x` is 0 / 0 at 0 and 1 all around it: 1 is then the only right value, and a patch that
gives another is wrong. `x / norm(x)` comes to another value from each side: it has none.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

STEPS = (1e-5, 1e-7)  # from the failing values, relative to the others
WAYS = 6
ALIKE = 1e-3


def departure(original: Callable, patched: Callable, values) -> tuple[float, float, float]:
    """How far the patch is from the limit, relative, where there is one; the limit; its value."""
    import torch

    at = [v.detach() if isinstance(v, torch.Tensor) else v for v in values]
    failed = original(*_wide(at))
    given = patched(*[v.clone() if isinstance(v, torch.Tensor) else v for v in at])
    if not all(isinstance(x, torch.Tensor) and x.is_floating_point() for x in (failed, given)):
        return 0.0, 0.0, 0.0
    bad = ~torch.isfinite(failed)
    if given.shape != failed.shape or not bool(bad.any()):
        return 0.0, 0.0, 0.0
    generator = torch.Generator().manual_seed(0)
    near = []
    for step in STEPS:
        for _ in range(WAYS):
            near.append(original(*[_nudged(v, step, generator) for v in _wide(at)]).detach()[bad])
    found = torch.stack(near)
    size = found.abs().amax(dim=0).clamp(min=1e-3)
    alike = torch.isfinite(found).all(dim=0)
    alike &= (found.amax(dim=0) - found.amin(dim=0)) <= ALIKE * size
    if not bool(alike.any()):
        return 0.0, 0.0, 0.0
    right, value = found[-1][alike], given.detach().double()[bad][alike]
    off = (value - right).abs() / size[alike]
    worst = int(off.nan_to_num(nan=0.0).argmax())
    return float(off[worst]), float(right[worst]), float(value[worst])


def _wide(values) -> list:
    import torch

    return [
        v.double() if isinstance(v, torch.Tensor) and v.is_floating_point() else v for v in values
    ]


def _nudged(value: object, step: float, generator) -> object:
    """Moves each element a little, up or down, by another part of the whole each time."""
    import torch

    if isinstance(value, float):
        return value + step * (0.1 + float(torch.rand(1, generator=generator)))
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return value
    finite = value[torch.isfinite(value)]
    size = float(finite.abs().median()) if finite.numel() else 1.0
    by = (0.1 + torch.rand(value.shape, generator=generator, dtype=torch.float64)) * (size or 1.0)
    up_or_down = torch.randint(0, 2, value.shape, generator=generator) * 2 - 1
    return value + step * by * up_or_down
