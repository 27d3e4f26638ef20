"""Tensor subclasses that the programs beside this file wrap their tensors in."""

from __future__ import annotations

import torch
from torch.utils._python_dispatch import return_and_correct_aliasing
from torch.utils._pytree import tree_map


class Wrapper(torch.Tensor):
    """Has no memory of its own; subclasses say where they keep the tensor they wrap."""

    @staticmethod
    def __new__(cls, elem, *_):
        return torch.Tensor._make_wrapper_subclass(
            cls, elem.shape, dtype=elem.dtype, device=elem.device, requires_grad=elem.requires_grad
        )

    def __init__(self, elem, *_):
        self.keep(elem)

    def keep(self, elem):
        raise NotImplementedError

    def kept(self):
        raise NotImplementedError

    def __repr__(self):
        return f"{type(self).__name__}({tuple(self.shape)})"

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        def unwrap(x):
            return x.kept() if isinstance(x, cls) else x

        out = func(*tree_map(unwrap, args), **tree_map(unwrap, kwargs or {}))
        wrapped = tree_map(lambda x: cls(x) if isinstance(x, torch.Tensor) else x, out)
        return return_and_correct_aliasing(func, args, kwargs or {}, wrapped)


class Flat(Wrapper):
    """Says what it wraps."""

    def keep(self, elem):
        self.elem = elem

    def kept(self):
        return self.elem

    def __tensor_flatten__(self):
        return ["elem"], None

    @staticmethod
    def __tensor_unflatten__(inner, meta, size, stride):
        return Flat(inner["elem"])


class InAttribute(Wrapper):
    """Does not say, but keeps it where one can see."""

    def keep(self, elem):
        self._data = elem

    def kept(self):
        return self._data


class InDict(Wrapper):
    def keep(self, elem):
        self.parts = {"data": [elem]}

    def kept(self):
        return self.parts["data"][0]


class _Box:
    __slots__ = ("content",)


class InBox(Wrapper):
    """Keeps it where nobody looks, beside a small tensor in full view."""

    def keep(self, elem):
        self.box = _Box()
        self.box.content = elem
        self.seed = torch.zeros(1)

    def kept(self):
        return self.box.content


class InClosure(Wrapper):
    """Keeps nothing that one could find."""

    def keep(self, elem):
        self.kept = lambda: elem


class Raising(InClosure):
    """Refuses to say."""

    def __tensor_flatten__(self):
        raise RuntimeError("not today")


class Scaled(torch.Tensor):
    """A weight in eight bits with a scale: what it stands for is in neither alone."""

    @staticmethod
    def __new__(cls, data, scale):
        return torch.Tensor._make_wrapper_subclass(cls, data.shape, dtype=torch.float32)

    def __init__(self, data, scale):
        self.int_data = data
        self.scale = scale

    def __tensor_flatten__(self):
        return ["int_data", "scale"], None

    @staticmethod
    def __tensor_unflatten__(inner, meta, size, stride):
        return Scaled(inner["int_data"], inner["scale"])

    def __repr__(self):
        return "Scaled()"

    def dequantize(self):
        return self.int_data.to(torch.float32) * self.scale

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        if func is torch.ops.aten.detach.default:
            return cls(args[0].int_data, args[0].scale)
        args = tree_map(lambda x: x.dequantize() if isinstance(x, cls) else x, args)
        return func(*args, **(kwargs or {}))


class OwnMemory(torch.Tensor):
    """Has a __torch_dispatch__, and memory like any tensor."""

    @staticmethod
    def __new__(cls, elem):
        return torch.Tensor._make_subclass(cls, elem)

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        with torch._C._DisableTorchDispatch():
            out = func(*args, **(kwargs or {}))
        return out.as_subclass(cls) if func is torch.ops.aten.detach.default else out


class Many(Wrapper):
    """Two hundred pieces."""

    def keep(self, elem):
        self.pieces = list(elem.reshape(-1).tensor_split(200))
        self.shape_of_all = elem.shape

    def kept(self):
        return torch.cat(self.pieces).view(self.shape_of_all)


def layers(elem, count):
    """Wrappers around wrappers; a class of its own for each, or they would be taken for one."""
    for depth in range(count):
        kind = type(f"Layer{depth}", (Flat,), {})
        elem = kind(elem)
    return elem
