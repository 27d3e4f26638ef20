"""In a child: values that are handed to an expression a second time, and what it makes of them."""

from __future__ import annotations


def wide(values) -> list:
    import torch

    return [
        v.double() if isinstance(v, torch.Tensor) and v.is_floating_point() else v for v in values
    ]


def copies(values) -> list:
    """Copies, so that an op in place spoils nothing; the graph behind them is the same."""
    import torch

    return [v.clone() if isinstance(v, torch.Tensor) else v for v in values]


def differentiable(values) -> list:
    import torch

    return [
        v
        for v in values
        if isinstance(v, torch.Tensor) and v.requires_grad and v.is_floating_point()
    ]


def gradients(result, common) -> list:
    """Differentiates the sum of the result by each of the values that can have a gradient."""
    import torch

    inputs = differentiable(common)
    if not inputs or not result.requires_grad or not torch.is_grad_enabled():
        return [None] * len(inputs)
    ones = torch.ones_like(result)
    return list(torch.autograd.grad(result, inputs, ones, retain_graph=True, allow_unused=True))


def second_gradients(result, common) -> list:
    """Differentiates twice, as the program may; gives none where the expression cannot be."""
    import torch

    inputs = differentiable(common)
    if not inputs or not result.requires_grad:
        return []
    try:
        once = torch.autograd.grad(
            result, inputs, torch.ones_like(result), create_graph=True, allow_unused=True
        )
        slopes = [g for g in once if g is not None and g.requires_grad]
        if not slopes:
            return []
        total = sum(g.sum() for g in slopes)
        return list(torch.autograd.grad(total, inputs, allow_unused=True))
    except RuntimeError:
        return []


def is_wider(after, before) -> bool:
    import torch

    narrow = (torch.float16, torch.bfloat16)
    return before.dtype in narrow and after.dtype in (torch.float32, torch.float64)
