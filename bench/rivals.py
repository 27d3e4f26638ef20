"""What people use instead: each a function that makes a watched step of a step."""

from __future__ import annotations

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


def detect_anomaly(step):
    def checked() -> None:
        with torch.autograd.set_detect_anomaly(True):
            step()

    return checked


class IsFinite(TorchDispatchMode):
    """Every result of every op, backward and optimizer included; what to do with it is left out."""

    bad = 0

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        result = op(*args, **(kwargs or {}))
        for x in tree_leaves(result):
            if isinstance(x, torch.Tensor) and x.is_floating_point():
                self.bad += not torch.isfinite(x).all()
        return result


def dispatch_mode(step):
    def checked() -> None:
        with IsFinite():
            step()

    return checked


def module_hooks(step):
    """A forward hook on every module: the outputs of modules, and nothing else."""

    def look(module, inputs, output) -> None:
        for x in tree_leaves(output):
            if isinstance(x, torch.Tensor) and x.is_floating_point():
                look.bad += not torch.isfinite(x).all()

    look.bad = 0

    def checked() -> None:
        hooks = [module.register_forward_hook(look) for module in step.model.modules()]
        try:
            step()
        finally:
            for hook in hooks:
                hook.remove()

    return checked


ALL = {
    "detect_anomaly": detect_anomaly,
    "dispatch_mode": dispatch_mode,
    "module_hooks": module_hooks,
}
