"""Computes as fused kernels do: half precision is kept as float32 from one op to the next.

A kernel that inductor makes loads float16 or bfloat16, computes in float32, and rounds where it
stores. Eager rounds the result of every op. A replay under this mode shows which op gives a bad
value without the rounding, at its line, with its operands.
"""

from __future__ import annotations

import torch
from torch.utils._pytree import tree_map

from nanscope.compiled.dispatch_mode import DispatchMode

HALF = (torch.float16, torch.bfloat16)


class Wide(DispatchMode):
    def __init__(self, adapter) -> None:
        super().__init__()
        self.adapter = adapter
        self.rounded_to = ""  # what eager would have rounded to, where it first would have

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        aliases = [a.alias_info for a in op._schema.arguments if a.alias_info is not None]
        if any(not alias.is_write for alias in aliases):
            return op._op(*args, **kwargs)  # a view of what is widened where it is computed with
        if aliases:
            return self._write(op, args, kwargs)
        args, kwargs = tree_map(self.widened, (args, kwargs))
        return op._op(*args, **kwargs)  # without a frame of torch

    def _write(self, op, args, kwargs):
        """What is written keeps its type: a kernel rounds where it stores."""
        writes = [a.alias_info is not None and a.alias_info.is_write for a in op._schema.arguments]
        wide = [
            given if place < len(writes) and writes[place] else tree_map(self.widened, given)
            for place, given in enumerate(args)
        ]
        try:
            return op._op(*wide, **kwargs)
        except RuntimeError:
            return op._op(*args, **kwargs)  # it wants all of one type

    def widened(self, value):
        if isinstance(value, torch.Tensor) and value.dtype in HALF:
            self._note(value.dtype)
            return self._copy(value)
        if isinstance(value, torch.dtype) and value in HALF:
            self._note(value)
            return torch.float32
        return value

    def _note(self, dtype: torch.dtype) -> None:
        self.rounded_to = self.rounded_to or str(dtype).removeprefix("torch.")

    def _copy(self, half: torch.Tensor) -> torch.Tensor:
        """With what is known of it."""
        made = self.adapter.quietly(half.float)
        if self.adapter.is_any_known_bad([half]):
            self.adapter.carry_over(half, made)
        return made
