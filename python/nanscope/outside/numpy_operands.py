"""The operands of an expression that has just run, read from its frame.

Names, attributes and subscripts are looked up, arithmetic between numbers and arrays is done again,
reductions of plain arrays (`x.std(0)`) and types of NumPy (`np.float64(n)`) too, and nothing else:
no other call is evaluated again, no property, no `__getitem__` of the program's own.
"""

from __future__ import annotations

import ast
import sys
from types import FrameType, ModuleType
from typing import NamedTuple

from nanscope.telling.expression import ARITHMETIC, SIGNS, parse_expression, parse_statement
from nanscope.telling.names import shorten


class Unknown:
    """A value that cannot be had without running the program's code again."""


UNKNOWN = Unknown()
_PLAIN_REDUCTIONS = ("sum", "mean", "std", "var", "min", "max")  # of an array
_PLAIN_PROPERTIES = ("T", "real", "imag")  # of an array: views


class Operand(NamedTuple):
    text: str
    value: object  # or UNKNOWN
    result: object = None  # the array, if the operation wrote its result over it


class Expression(NamedTuple):
    function: str | None  # `mean` of np.mean(x) and x.mean()
    operands: list[Operand]
    plain: bool  # nothing else was passed: no axis, no out


def read(text: str, frame: FrameType) -> Expression:
    """What the expression computed with; no operands for a form that is not known."""
    node = parse_expression(text)
    source = f"({text}\n)" if node is not None else text
    reader = _Reader(source, frame)
    return reader.read(node if node is not None else parse_statement(text))


class _Reader:
    def __init__(self, source: str, frame: FrameType) -> None:
        self.source = source
        self.frame = frame

    def read(self, node: ast.AST | None) -> Expression:
        match node:
            case ast.BinOp(left, _, right):
                return Expression(None, [self.operand(left), self.operand(right)], True)
            case ast.AugAssign(target, _, value):
                first = self.operand(target)
                if _is_array(first.value):
                    first = Operand(first.text, UNKNOWN, first.value)
                return Expression(None, [first, self.operand(value)], True)
            case ast.UnaryOp(_, operand):
                return Expression(None, [self.operand(operand)], True)
            case ast.Call(ast.Attribute(base, name), args, words):
                if isinstance(self.value(base), ModuleType):
                    return self.call(name, args, words)
                return self.call(name, [base, *args], words)
            case ast.Call(ast.Name(name), args, words):
                return self.call(name, args, words)
            case ast.Assign(_, value):
                return self.read(value)
        return Expression(None, [], False)

    def call(self, name: str, args: list, words: list) -> Expression:
        if any(isinstance(argument, ast.Starred) for argument in args):
            return Expression(name, [], False)
        out = {ast.unparse(word.value) for word in words if word.arg == "out"}
        operands = [self.operand(argument) for argument in args]
        operands = [
            Operand(given.text, UNKNOWN, given.value) if given.text in out else given
            for given in operands
        ]
        return Expression(name, operands, not words)

    def operand(self, node: ast.expr) -> Operand:
        text = ast.get_source_segment(self.source, node) or ast.unparse(node)
        return Operand(shorten(" ".join(text.split())), self.value(node))

    def value(self, node: ast.expr) -> object:
        match node:
            case ast.Constant(value):
                return value
            case ast.Name(name):
                return self.name(name)
            case ast.Attribute(base, name):
                return _attribute(self.value(base), name)
            case ast.Subscript(base, index):
                return _item(self.value(base), self.index(index))
            case ast.BinOp(left, kind, right):
                return _again(ARITHMETIC.get(type(kind)), self.value(left), self.value(right))
            case ast.UnaryOp(kind, inner):
                return _again(SIGNS.get(type(kind)), self.value(inner))
            case ast.Call(ast.Attribute(base, name), args, []) if name in _PLAIN_REDUCTIONS:
                array, axes = self.value(base), [self.value(argument) for argument in args]
                if _is_array(array) and all(type(axis) in (int, tuple) for axis in axes):
                    return _again(lambda _: getattr(array, name)(*axes), array)
            case ast.Call(function, [argument], []):  # np.float64(n)
                kind = self.value(function)
                if isinstance(kind, type) and issubclass(kind, sys.modules["numpy"].generic):
                    return _again(kind, self.value(argument))
        return UNKNOWN

    def name(self, name: str) -> object:
        for space in (self.frame.f_locals, self.frame.f_globals):
            if name in space:
                return space[name]
        return UNKNOWN

    def index(self, node: ast.expr) -> object:
        if isinstance(node, ast.Tuple):
            parts = [self.index(part) for part in node.elts]
            return UNKNOWN if any(part is UNKNOWN for part in parts) else tuple(parts)
        if isinstance(node, ast.Slice):
            ends = [node.lower, node.upper, node.step]
            values = [None if end is None else self.value(end) for end in ends]
            return UNKNOWN if any(value is UNKNOWN for value in values) else slice(*values)
        return self.value(node)


def _attribute(owner: object, name: str) -> object:
    if owner is UNKNOWN:
        return UNKNOWN
    if _is_array(owner) and name in _PLAIN_PROPERTIES:
        return getattr(owner, name)
    try:
        fields = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return UNKNOWN
    return fields.get(name, UNKNOWN)


def _item(owner: object, index: object) -> object:
    if index is UNKNOWN or not (_is_array(owner) or type(owner) in (list, tuple, dict)):
        return UNKNOWN
    try:
        return owner[index]
    except (LookupError, TypeError, ValueError):
        return UNKNOWN  # it has changed since


def _again(function, *values: object) -> object:
    """Arithmetic between plain numbers and arrays has no effect but its result."""
    if function is None or not all(map(_is_numeric, values)):
        return UNKNOWN
    numpy = sys.modules["numpy"]
    try:
        with numpy.errstate(all="ignore"):
            return function(*values)
    except (ArithmeticError, TypeError, ValueError):
        return UNKNOWN


def _is_array(value: object) -> bool:
    return type(value) is sys.modules["numpy"].ndarray


def _is_numeric(value: object) -> bool:
    return (
        type(value) in (int, float, complex, bool)
        or _is_array(value)
        or isinstance(value, sys.modules["numpy"].generic)
    )


is_array = _is_array
is_numeric = _is_numeric
