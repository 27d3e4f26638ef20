"""Which part of an expression became which argument of an op.

One `Reader` per question. Each method answers for one form of expression with the arguments it is
sure of, by their names in the op's schema.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from nanscope.telling.composites import ALIASES, COMPOSITES, HELD, MODULES
from nanscope.telling.variables import Variables

# A part of the expression, or the text of something that a module holds.
Binding = dict[str, ast.expr | str]

_OPERATORS: dict[type[ast.operator], tuple[str, ...]] = {
    ast.Add: ("add",),
    ast.Sub: ("sub",),
    ast.Mult: ("mul",),
    ast.Div: ("div",),
    ast.FloorDiv: ("floor_divide", "div"),
    ast.Mod: ("remainder",),
    ast.Pow: ("pow",),
    ast.BitAnd: ("bitwise_and", "__and__", "__iand__"),
    ast.BitOr: ("bitwise_or", "__or__", "__ior__"),
    ast.BitXor: ("bitwise_xor", "__xor__", "__ixor__"),
    ast.LShift: ("bitwise_left_shift", "__lshift__", "__ilshift__"),
    ast.RShift: ("bitwise_right_shift", "__rshift__", "__irshift__"),
}
_COMPARE = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}
_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
_UNARY = {ast.USub: "neg", ast.Invert: "bitwise_not", ast.Not: "_local_scalar_dense"}
_PRODUCTS = {"matmul": "other", "mm": "mat2", "bmm": "mat2", "mv": "vec", "dot": "tensor"}
_TAKES_PART = {"index", "select", "slice", "index_put", "_index_put_impl", "unsqueeze"}
# The keyword of a call where the schema says `self` or `other`.
_KEYWORDS = {"input": "self", "x": "self", "x1": "self", "x2": "other"}
# Python code of torch's own: a call passes through the first kind as it is.
_TRANSPARENT = (
    "torch._tensor.",
    "torch._jit_internal.",
    "torch.utils._device.",
    "torch.overrides.",
)
_OF_FUNCTIONS = ("torch.nn.functional.", "torch.functional.")
_OF_MODULES = "torch.nn.modules."
UNKNOWN = "?"  # some Python code


class Reader:
    """Reads an expression, parsed from `source`, for the op `kernel`.

    `orders` are the signatures that the op may have been called by, `has_number` tells that one of
    its two operands was a Python number, `transposed` that its last operand is the transpose of
    what lies in memory (None: not known), `callee` what the frame called in Python.
    """

    def __init__(
        self,
        source: str,
        kernel: str,
        orders: list[list[str]],
        has_number: bool,
        transposed: bool | None,
        callee: str | None,
        variables: Variables,
    ) -> None:
        self.source = source
        self.kernel = kernel
        self.orders = orders
        self.has_number = has_number
        self.transposed = transposed
        self.callee = None if callee and callee.startswith(_TRANSPARENT) else callee
        self.variables = variables
        self.gives_result = True  # the op's result is that of the expression

    def bind(self, node: ast.AST | None) -> Binding:
        if isinstance(node, ast.Call):
            return self.call(node)
        if self.callee is not None:
            return {}  # an operator that some library defines for a type of its own
        match node:
            case ast.BinOp(left, operator, right):
                return self.binary(operator, left, right)
            case ast.AugAssign(target, operator, value):
                return self.binary(operator, target, value)
            case ast.UnaryOp(operator, operand) if _UNARY.get(type(operator)) == self.kernel:
                return {"self": operand}
            case ast.Compare(left, [operator], [right]):
                return self.compare(_COMPARE.get(type(operator)), left, right)
            case ast.Subscript():
                return self.subscript(node)
            case ast.Name() | ast.Attribute() if self.kernel in ("unbind", "_local_scalar_dense"):
                return {"self": node}  # iterated, or asked whether it is true
            case ast.IfExp(test) if self.kernel == "_local_scalar_dense":
                return {"self": test}
            case ast.ListComp(_, [first]) if self.kernel == "unbind":
                return {"self": first.iter}
        return {}

    def binary(self, operator: ast.operator, left: ast.expr, right: ast.expr) -> Binding:
        kernel = self.kernel
        if isinstance(operator, ast.MatMult):
            return self.product(left, right)
        if isinstance(operator, ast.Div) and kernel == "reciprocal":  # 1 / x
            return {"self": right}
        if isinstance(operator, ast.Sub) and kernel == "rsub":
            return {"self": right, "other": left}
        if kernel not in _OPERATORS.get(type(operator), ()):
            return {}
        if kernel in ("add", "mul"):
            return self.symmetric(left, right)
        return {"self": left, "exponent" if kernel == "pow" else "other": right}

    def symmetric(self, left: ast.expr, right: ast.expr) -> Binding:
        """Torch puts the tensor first: `2 * x` is mul(x, 2)."""
        a, b = self.variables.is_number(left), self.variables.is_number(right)
        if self.has_number or a or b:
            if a is b:
                return {}
            if a or (a is None and b is False):
                left, right = right, left
        return {"self": left, "other": right}

    def compare(self, kernel: str | None, left: ast.expr, right: ast.expr) -> Binding:
        if self.kernel == _MIRRORED.get(kernel):  # 0 < x is gt(x, 0)
            return {"self": right, "other": left}
        if self.kernel != kernel:
            return {}
        return (
            self.symmetric(left, right)
            if kernel in ("eq", "ne")
            else {"self": left, "other": right}
        )

    def product(self, left: ast.expr, right: ast.expr) -> Binding:
        """`a @ b`. A batch on the right alone may be folded into a matrix, and the two swapped."""
        second = _PRODUCTS.get(self.kernel)
        if second is None:
            return {}
        if self.kernel in ("mm", "mv"):
            swapped = self.is_swapped(left, right)
            if swapped is None:
                return {}
            if swapped:
                left, right = right, left
        return {"self": left, second: right}

    def is_swapped(self, left: ast.expr, right: ast.expr) -> bool | None:
        """Whether `matrix @ batch` was computed as `batch^T @ matrix^T`."""
        a, b = self.variables.dimensions(left), self.variables.dimensions(right)
        if (a is not None and a > 2) or (b is not None and b <= 2):
            return False
        if a is not None and b is not None:
            return True
        # The matrix would now be on the right, and transposed.
        return None if self.transposed is not False or _may_transpose(left) else False

    def subscript(self, node: ast.Subscript) -> Binding:
        if self.variables.is_tensor(node.value) is False:
            return {}
        if self.kernel in ("copy", "fill"):  # x[i] = v
            return {"self": node}
        if self.kernel not in _TAKES_PART:
            return {}
        if isinstance(node.slice, ast.Tuple | ast.Slice):
            return {"self": node.value}
        return {"self": node.value, "indices": ast.List([node.slice])}

    def call(self, node: ast.Call) -> Binding:
        if any(word.arg is None for word in node.keywords):  # f(**words)
            return {}
        callee = self.callee
        if callee is not None and callee.startswith(_OF_MODULES):
            return self.module_call(node, callee.rpartition(".")[2])
        match node.func:
            case ast.Name(name):
                receiver = None
            case ast.Attribute(base, name):
                receiver = base
            case _:
                return {}
        if callee == UNKNOWN and receiver is not None and self.variables.is_package(receiver):
            receiver = None  # `F.softmax(x)` says enough
        elif callee is not None:
            if not callee.startswith(_OF_FUNCTIONS):
                return {}
            name, receiver = callee.rpartition(".")[2].removeprefix("_"), None
        elif receiver is not None:
            package = self.variables.is_package(receiver)
            if package is None:
                return {}
            receiver = None if package else receiver
        return self.function_call(name.removesuffix("_"), receiver, node)

    def function_call(self, name: str, receiver: ast.expr | None, node: ast.Call) -> Binding:
        name = ALIASES.get(name, name)
        operands = ([receiver] if receiver else []) + node.args
        if name == "matmul":
            return self.product(*operands) if len(operands) == 2 and not node.keywords else {}
        parameters, kernels = COMPOSITES.get(name, ("", {}))
        # torch.embedding takes its arguments in another order than F.embedding.
        in_order = ast.get_source_segment(self.source, node.func) == "torch.embedding"
        self.gives_result = self.kernel.endswith(name)
        if self.kernel in kernels and not in_order:
            given = _given(parameters.split(), "input", receiver, node)
            return _chosen(kernels[self.kernel], given)
        if self.kernel not in (name, f"linalg_{name}", f"special_{name}", f"fft_{name}"):
            return {}
        if receiver is None and self.kernel in ("add", "mul") and operands:
            if self.variables.is_number(operands[0]):
                return {}
        return self.by_schema(receiver, node)

    def by_schema(self, receiver: ast.expr | None, node: ast.Call) -> Binding:
        """The kernel has the function's own name: its schema is the signature."""
        readings = []
        for order in self.orders:
            names = [name for name in order if receiver is None or name != "self"]
            if len(node.args) <= len(names):  # else it is an old form with a number in between
                given = _given(names, None, receiver, node)
                readings.append(
                    {
                        name if name in order else _KEYWORDS.get(name, name): value
                        for name, value in given.items()
                    }
                )
        return _agreed(readings)

    def module_call(self, node: ast.Call, owner: str) -> Binding:
        """`self.fc(x)`: the inputs are arguments, the parameters are the module's own."""
        function = MODULES.get(owner)
        if function is None:
            return {}
        parameters, kernels = COMPOSITES.get(function, ("input target", {}))
        names = [name for name in parameters.split() if name not in HELD]
        given = _given(names, None, None, node)
        self.gives_result = self.kernel.endswith(function)
        if isinstance(node.func, ast.Name | ast.Attribute | ast.Subscript):
            text = ast.get_source_segment(self.source, node.func)
            given.update({name: f"{text}.{name}" for name in HELD})
        if self.kernel in kernels:
            return _chosen(kernels[self.kernel], given)
        if self.kernel != function:
            return {}
        return _chosen({"self": "input", "target": "target", "weight": "weight"}, given)


def _may_transpose(node: ast.expr) -> bool:
    names = {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
    return not names.isdisjoint({"T", "mT", "H", "mH", "t", "transpose", "permute", "movedim"})


def _given(
    parameters: Iterable[str], first: str | None, receiver: ast.expr | None, node: ast.Call
) -> Binding:
    """The arguments of a call by parameter; those after a `*args` cannot be counted."""
    binding: Binding = {}
    names = list(parameters)
    if receiver is not None:
        binding["self"] = receiver
        if first is not None and names:
            binding[names.pop(0)] = receiver
    for name, value in zip(names, node.args, strict=False):
        if isinstance(value, ast.Starred):
            break
        binding[name] = value
    binding.update({word.arg: word.value for word in node.keywords if word.arg})
    return binding


def _chosen(wanted: dict[str, str], given: Binding) -> Binding:
    return {name: given[parameter] for name, parameter in wanted.items() if parameter in given}


def _agreed(readings: list[Binding]) -> Binding:
    """What all readings say."""
    if not readings:
        return {}
    first, *others = readings
    return {k: v for k, v in first.items() if all(other.get(k) is v for other in others)}
