"""Evaluates an expression of the program twice, as it was and in float64, on copies.

Only what is plain arithmetic on tensors and numbers is evaluated: names, attributes without code
behind them, operators, and the pure functions of `functions.py`, none of which draws random numbers
or writes to its operands. Anything else raises `Unknown`: then nothing is said.

A name that the function assigned before is taken apart as well, if the assigned expression still
gives the very value the name has now: so no control flow needs to be followed.
"""

from __future__ import annotations

import ast
import operator
from typing import Any

from nanscope.telling.expression import ARITHMETIC, SIGNS
from nanscope.telling.functions import functions_that

MOST_NODES = 160
MOST_ELEMENTS = 1 << 21  # of all tensors that are made
UNARY = {**SIGNS, ast.Invert: operator.invert}
COMPARE = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
PURE = functions_that("pure")
NUMBERS = {"float": float, "int": int, "abs": abs}
CASTS = functions_that("casts")
ATTRIBUTES = frozenset("T mT real imag shape ndim dtype device".split())
CREATORS = functions_that("creates")


class Unknown(Exception):
    """This cannot be evaluated here."""


class Shadow:
    """A value as the program computed it, and in float64."""

    __slots__ = ("complete", "native", "node", "parts", "wide")

    def __init__(self, node: ast.expr, native: Any, wide: Any, parts=(), complete=True) -> None:
        self.node = node
        self.native = native
        self.wide = wide
        self.parts: tuple[Shadow, ...] = tuple(parts)
        self.complete = complete and all(part.complete for part in self.parts)


class Evaluator:
    """Evaluates expressions of one frame."""

    def __init__(self, torch, frame, function: ast.AST, line: int) -> None:
        self.torch = torch
        self.locals = frame.f_locals
        self.globals = frame.f_globals
        self.function = function
        self.line = line
        self.nodes = 0
        self.elements = 0
        self.known: dict[tuple[str, int], Shadow] = {}
        self.open: set[str] = set()
        self.modules = {torch, torch.nn.functional, torch.linalg, torch.special}

    def of(self, node: ast.expr, line: int) -> Shadow:
        """`line`: assignments above it are the ones that count."""
        self.nodes += 1
        if self.nodes > MOST_NODES:
            raise Unknown
        method = getattr(self, "_" + type(node).__name__.lower(), None)
        if method is None:
            raise Unknown
        shadow = method(node, line)
        if self.is_tensor(shadow.wide):
            self.elements += shadow.wide.numel()
            if self.elements > MOST_ELEMENTS:
                raise Unknown
        return shadow

    def is_tensor(self, value: Any) -> bool:
        return type(value) in (self.torch.Tensor, self.torch.nn.Parameter)

    def leaf(self, node: ast.expr, value: Any, given: bool) -> Shadow:
        if not self.is_tensor(value):
            if isinstance(value, bool | int | float | str | type(None) | self.torch.dtype):
                return Shadow(node, value, value)
            if isinstance(value, self.torch.device | self.torch.Size):
                return Shadow(node, value, value)
            raise Unknown
        plain = value.layout == self.torch.strided and value.device.type == "cpu"
        if not plain or value.numel() > MOST_ELEMENTS:
            raise Unknown
        value = value.detach()
        wide = value.double() if value.is_floating_point() else value
        return Shadow(node, value, wide, complete=given or not value.is_floating_point())

    def _constant(self, node: ast.Constant, line: int) -> Shadow:
        return self.leaf(node, node.value, given=True)

    def _name(self, node: ast.Name, line: int) -> Shadow:
        key = node.id, line
        if key not in self.known:
            self.known[key] = self._named(node, line)
        return self.known[key]

    def _named(self, node: ast.Name, line: int) -> Shadow:
        name = node.id
        if name in self.locals:
            value = self.locals[name]
        elif name in self.globals:
            value = self.globals[name]
        else:
            raise Unknown
        assigned = last_assignment(self.function, name, line)
        given = isinstance(value, self.torch.nn.Parameter) or (
            self.is_tensor(value) and value.is_leaf and value.requires_grad
        )
        if assigned is None or not self.is_tensor(value) or name in self.open:
            return self.leaf(node, value, given)
        if called(assigned.value) in CREATORS:
            return self.leaf(node, value, given=True)
        self.open.add(name)
        try:
            shadow = self.of(assigned.value, assigned.lineno)
        except Unknown:
            return self.leaf(node, value, given)
        finally:
            self.open.discard(name)
        return shadow if self.is_same(shadow.native, value) else self.leaf(node, value, given)

    def is_same(self, made: Any, value: Any) -> bool:
        """The very numbers: then this is how the value came about."""
        return (
            self.is_tensor(made)
            and made.dtype == value.dtype
            and made.shape == value.shape
            and self.torch.equal(made.nan_to_num(), value.detach().nan_to_num())
        )

    def _attribute(self, node: ast.Attribute, line: int) -> Shadow:
        owner = self.plain(node.value, line)
        if owner in self.modules or getattr(owner, "__name__", "") == "math":
            return self.leaf(node, getattr(owner, node.attr, ...), given=True)
        if isinstance(owner, Shadow):
            if node.attr not in ATTRIBUTES:
                raise Unknown
            native, wide = (getattr(v, node.attr) for v in (owner.native, owner.wide))
            return Shadow(node, native, wide, [owner])
        value = stored(owner, node.attr)
        return self.leaf(node, value, isinstance(value, self.torch.nn.Parameter))

    def plain(self, node: ast.expr, line: int) -> Any:
        """An object that is no value: `self`, `torch.nn.functional`. Else the value."""
        if isinstance(node, ast.Name):
            value = self.locals.get(node.id, self.globals.get(node.id, ...))
            if not self.is_tensor(value) and not isinstance(value, int | float | str):
                return value
        if isinstance(node, ast.Attribute):
            owner = self.plain(node.value, line)
            if not isinstance(owner, Shadow):
                value = (
                    getattr(owner, node.attr, ...)
                    if type(owner).__name__ == "module"
                    else stored(owner, node.attr)
                )
                if not self.is_tensor(value) and not isinstance(value, int | float | str):
                    return value
        return self.of(node, line)

    def _binop(self, node: ast.BinOp, line: int) -> Shadow:
        function = ARITHMETIC.get(type(node.op))
        if function is None:
            raise Unknown
        a, b = self.of(node.left, line), self.of(node.right, line)
        return self._made(node, function, [a, b])

    def _unaryop(self, node: ast.UnaryOp, line: int) -> Shadow:
        function = UNARY.get(type(node.op))
        if function is None:
            raise Unknown
        return self._made(node, function, [self.of(node.operand, line)])

    def _compare(self, node: ast.Compare, line: int) -> Shadow:
        if len(node.ops) != 1 or type(node.ops[0]) not in COMPARE:
            raise Unknown
        a, b = self.of(node.left, line), self.of(node.comparators[0], line)
        # A mask is as it was: another one would be another program.
        value = COMPARE[type(node.ops[0])](a.native, b.native)
        return Shadow(node, value, value, [a, b])

    def _made(self, node: ast.expr, function, parts: list[Shadow]) -> Shadow:
        try:
            native = function(*(part.native for part in parts))
            wide = function(*(part.wide for part in parts))
        except (TypeError, ValueError, RuntimeError, ArithmeticError, IndexError) as error:
            raise Unknown from error
        return Shadow(node, native, wide, parts)

    def _tuple(self, node: ast.Tuple, line: int) -> Shadow:
        parts = [self.of(each, line) for each in node.elts]
        return Shadow(node, tuple(p.native for p in parts), tuple(p.wide for p in parts), parts)

    def _list(self, node: ast.List, line: int) -> Shadow:
        parts = [self.of(each, line) for each in node.elts]
        return Shadow(node, [p.native for p in parts], [p.wide for p in parts], parts)

    def _slice(self, node: ast.Slice, line: int) -> Shadow:
        ends = [
            None if end is None else self.of(end, line).native
            for end in (node.lower, node.upper, node.step)
        ]
        return Shadow(node, slice(*ends), slice(*ends))

    def _subscript(self, node: ast.Subscript, line: int) -> Shadow:
        whole, place = self.of(node.value, line), self.of(node.slice, line)
        place.wide = place.native
        return self._made(node, operator.getitem, [whole, place])

    def _call(self, node: ast.Call, line: int) -> Shadow:
        function = node.func
        name = called(node)
        if isinstance(function, ast.Name) and name in NUMBERS and len(node.args) == 1:
            return self._number(node, NUMBERS[name], line)
        if name not in PURE or not isinstance(function, ast.Attribute):
            raise Unknown
        owner = self.plain(function.value, line)
        parts = [self.of(each, line) for each in node.args]
        if owner in self.modules:
            target = getattr(owner, name)
        elif isinstance(owner, Shadow) and self.is_tensor(owner.native):
            parts.insert(0, owner)
            target = operator.methodcaller
        else:
            raise Unknown
        named = {each.arg: self.of(each.value, line) for each in node.keywords if each.arg}
        if len(named) != len(node.keywords) or "out" in named:
            raise Unknown
        results = []
        for wide in (False, True):
            values = [part.wide if wide else part.native for part in parts]
            by_name = {key: part.wide if wide else part.native for key, part in named.items()}
            results.append(self._called(name, target, values, by_name, wide))
        return Shadow(node, *results, [*parts, *named.values()])

    def _number(self, node: ast.Call, function, line: int) -> Shadow:
        """float("-inf")"""
        part = self.of(node.args[0], line)
        if self.is_tensor(part.native) or name_is_bound(function, self.locals, self.globals):
            raise Unknown
        return self._made(node, function, [part])

    def _called(self, name: str, target, values: list, by_name: dict, wide: bool) -> Any:
        if wide and name in CASTS:
            return values[0]
        if wide and "dtype" in by_name:
            by_name["dtype"] = self.torch.float64
        try:
            if target is operator.methodcaller:
                return getattr(values[0], name)(*values[1:], **by_name)
            return target(*values, **by_name)
        except (TypeError, ValueError, RuntimeError, ArithmeticError, IndexError) as error:
            raise Unknown from error


def name_is_bound(function: Any, *scopes: dict) -> bool:
    """The program has something else under the name of this builtin."""
    return any(function.__name__ in scope for scope in scopes)


def stored(owner: Any, name: str) -> Any:
    """An attribute that runs no code: of the instance, of a module's lists, a class's number."""
    fields = getattr(owner, "__dict__", None)
    if not isinstance(fields, dict):
        raise Unknown
    lists = ("_parameters", "_buffers", "_modules")
    for where in (fields, *(fields.get(each) for each in lists)):
        if isinstance(where, dict) and name in where:
            return where[name]
    value = vars(type(owner)).get(name)
    if isinstance(value, int | float):
        return value
    raise Unknown


def called(node: ast.expr) -> str:
    """sqrt of torch.sqrt(x) and x.sqrt(); empty for what is no such call."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
        return node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
    return ""


def last_assignment(function: ast.AST, name: str, line: int) -> ast.Assign | None:
    """The last `name = ...` above this line; None if something else binds the name after it."""
    found: ast.AST | None = None
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            if node.id == name and node.lineno < line:
                if found is None or node.lineno >= found.lineno:
                    found = node
    if found is None:
        return None
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and node.targets == [found]:
            return node
    return None
