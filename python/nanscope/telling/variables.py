"""What is known about the variables that an expression mentions, without running any of it.

The text settles some of it (`2 * x`, `len(a) * x`), the variables of the frame the rest. They are
read from dictionaries alone: no property, no `__getattr__`, no code of the program.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import ModuleType

# Names by which everyone imports these.
_PACKAGES = {"torch", "F", "nn", "np", "numpy", "math", "functional", "special", "linalg", "fft"}

# Methods that neither numbers nor arrays of NumPy have.
_OF_TENSORS = set(
    "abs bmm clamp contiguous cos detach double exp expand float half log log10 log1p log2"
    " log_softmax matmul mm norm permute reciprocal relu rsqrt sigmoid sin softmax sqrt square t"
    " tanh unsqueeze view".split()
)


class Variables:
    """Answers are None where nobody can know."""

    def __init__(self, values: Mapping[str, object]) -> None:
        self.values = values

    def is_number(self, node: ast.expr) -> bool | None:
        """Whether this is a Python number, not a tensor."""
        match node:
            case ast.Constant(value):
                return isinstance(value, int | float | complex)
            case ast.UnaryOp(_, operand):
                return self.is_number(operand)
            case ast.BinOp(left, _, right):
                sides = {self.is_number(left), self.is_number(right)}
                return False if False in sides else True if sides == {True} else None
            case ast.Call(ast.Name("len" | "float" | "int"), _, _):
                return True
            case ast.Call(ast.Attribute(_, "item" | "size" | "numel" | "dim"), _, _):
                return True
            case ast.Call(ast.Attribute(ast.Name("math"), _), _, _):
                return True
            case ast.Call(ast.Attribute(ast.Name("torch" | "F"), name), _, _):
                return None if name == "numel" else False
            case ast.Call(ast.Attribute(_, name), _, _) if name in _OF_TENSORS:
                return False
            case ast.Subscript(_, ast.Tuple()):
                return False
        found, value = self._look_up(node)
        if found and isinstance(value, int | float | complex):
            return True
        return False if found and _looks_like_tensor(value) else None

    def is_tensor(self, node: ast.expr) -> bool | None:
        found, value = self._look_up(node)
        return _looks_like_tensor(value) if found else None

    def dimensions(self, node: ast.expr) -> int | None:
        """How many dimensions a tensor has; 2 for what only a matrix can do."""
        match node:
            case ast.Call(ast.Attribute(_, "t"), [], []):
                return 2
        found, value = self._look_up(node)
        plain = found and type(value).__name__ in ("Tensor", "Parameter")
        return value.ndim if plain and type(value).__module__.startswith("torch") else None

    def is_package(self, node: ast.expr) -> bool | None:
        """Whether what stands before the dot of a call is a module or class, not a tensor."""
        found, value = self._look_up(node)
        if found:
            if isinstance(value, ModuleType | type):
                return True
            return False if _looks_like_tensor(value) else None
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name):
            return False
        if root.id in _PACKAGES:
            return True
        # `self.norm(x)` may be anything, and TF another alias.
        return None if root.id == "self" or (root.id.isupper() and len(root.id) > 1) else False

    def _look_up(self, node: ast.expr) -> tuple[bool, object]:
        if isinstance(node, ast.Name):
            return node.id in self.values, self.values.get(node.id)
        if not isinstance(node, ast.Attribute):
            return False, None
        found, owner = self._look_up(node.value)
        fields = getattr(owner, "__dict__", {}) if found else {}
        held = (fields.get(name) or {} for name in ("_parameters", "_buffers", "_modules"))
        for space in (fields, *held):
            if node.attr in space:
                return True, space[node.attr]
        return False, None


def _looks_like_tensor(value: object) -> bool:
    return any(base.__name__ == "TensorBase" for base in type(value).__mro__)
