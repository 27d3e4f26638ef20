"""Is an operand a count: a number of rows, of elements, of true ones, or a product of such?"""

from __future__ import annotations

import math

import libcst as cst

from nanscope.findings import TensorFacts
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.operation import is_module, is_one, read
from nanscope.fix.patch.source_file import SourceFile
from nanscope.fix.rewrites.scope import assigned

COUNTING = {"len", "numel", "nelement", "count_nonzero", "bincount", "histc", "size", "unique"}
# Of a count these are counts again.
PASSING = {
    "sum", "clone", "cpu", "detach", "double", "expand", "expand_as", "flatten", "float", "item",
    "int", "long", "mul", "pow", "reshape", "square", "squeeze", "to", "type_as", "unsqueeze",
    "view", "add", "cumsum", "abs", "prod", "max", "tolist",
}  # fmt: skip
OF_TRUTH = {"eq", "ne", "gt", "lt", "ge", "le", "isnan", "isfinite", "isin", "logical_not"}
TRUTHFUL = OF_TRUTH | {"bool", "eye", "one_hot", "ones", "ones_like", "logical_and", "logical_or"}
DEEPEST = 8
WHOLE = 1 << 20  # counts are whole numbers not above this


def is_count(case: Case, node: cst.BaseExpression, facts: TensorFacts | None) -> bool:
    """The source says so and the values do not speak against it, or only whole numbers were seen,
    several of them. What is trained counts nothing.
    """
    if facts is not None and facts.dtype.startswith(("int", "uint")):
        return True
    if facts is not None and not can_count(facts):
        return False
    if counts(case.source, node):
        return True
    if facts is not None and not facts.healthy:
        return _looks_like_count(facts)  # of a capture that keeps no healthy elements
    seen = {abs(x) for x in facts.healthy if isinstance(x, int | float)} if facts else set()
    return len(seen) > 1 and max(seen) >= 2 and facts.negatives == 0


def to_be_seen(case: Case, node: cst.BaseExpression, facts: TensorFacts | None) -> str:
    """What the run has to show to be a count, where only a few values say so: a sum of shares can
    be whole for a while.
    """
    is_integer = facts is not None and facts.dtype.startswith(("int", "uint"))
    return "" if is_integer or counts(case.source, node) else case.source.bare(node)


def can_count(facts: TensorFacts) -> bool:
    values = [*facts.healthy, *facts.at_index]
    whole = all(isinstance(x, int | float) and x == int(x) and x >= 0 for x in values)
    return whole and not facts.requires_grad


def _looks_like_count(facts: TensorFacts) -> bool:
    """Whole numbers from 0 up, as far as least, largest and mean tell."""
    least, largest, mean = facts.min, facts.max, facts.mean
    if least != 0 or largest is None or mean is None or facts.subnormals:
        return False
    if not 1 <= largest <= WHOLE:
        return False
    total = mean * math.prod(facts.shape)
    return float(largest).is_integer() and abs(total - round(total)) < 1e-3


def counts(source: SourceFile, node: cst.BaseExpression | None, depth: int = 0) -> bool:
    """As far as the source of this function tells."""
    if node is None or depth > DEEPEST:
        return False
    match node:
        case cst.Integer():
            return True
        case cst.Name() | cst.Attribute():
            value = assigned(source, node.value, node) if isinstance(node, cst.Name) else None
            return counts(source, value, depth + 1) or _is_counted_up(source, node, depth)
        case cst.Comparison():
            return True
        case cst.UnaryOperation(operator=cst.BitInvert()):
            return True
        case cst.Subscript(value=cst.Attribute(attr=cst.Name(value="shape"))):
            return True
        case cst.Subscript():
            return counts(source, node.value, depth + 1)
        case cst.BinaryOperation(operator=cst.BitAnd() | cst.BitOr()):
            return True
        case cst.BinaryOperation(operator=cst.Multiply() | cst.Add() | cst.Power()):
            both = node.left, node.right
            return all(counts(source, operand, depth + 1) for operand in both)
        case cst.BinaryOperation(left=left, operator=cst.Subtract(), right=right):
            return is_one(left) and _is_truth(source, right, depth)
        case cst.Call():
            return _call_counts(source, node, depth)
    return False


def _is_truth(source: SourceFile, node: cst.BaseExpression, depth: int) -> bool:
    """0 or 1 in each element: `1 - mask` counts, too."""
    value = assigned(source, node.value, node) if isinstance(node, cst.Name) else node
    called = read(source, value) if isinstance(value, cst.Call) else None
    if called is None or depth > DEEPEST:
        return isinstance(value, cst.Comparison)
    if called.name in TRUTHFUL:
        return True
    passes = called.name in ("float", "double", "int", "long", "to", "type_as") and called.operands
    return bool(passes) and _is_truth(source, called.operands[0], depth + 1)


def _is_counted_up(source: SourceFile, node: cst.BaseExpression, depth: int) -> bool:
    """`n = 0`, `self.tokens += mask.sum()`: whole numbers are all that it is ever given."""
    name, given = source.code(node), []
    for other in source.nodes():
        match other:
            case cst.Assign(targets=targets, value=value):
                if any(source.code(each.target) == name for each in targets):
                    given.append(value)
            case cst.AugAssign(target=target, value=value):
                if source.code(target) == name:
                    whole = isinstance(other.operator, cst.AddAssign)
                    given.append(value if whole else target)
            case cst.For(target=target) if source.code(target) == name:
                return False
    zero = any(isinstance(value, cst.Integer) for value in given)
    return zero and all(counts(source, value, depth + 2) for value in given)


def _call_counts(source: SourceFile, node: cst.Call, depth: int) -> bool:
    called = read(source, node)
    if called is None:
        return False
    if called.name in COUNTING | TRUTHFUL:
        return True
    if called.name == "int" and called.form == "function":
        return True
    if called.name not in PASSING or not called.operands:
        return False
    first = called.operands[0]
    if is_module(source, first):
        return False
    return counts(source, first, depth + 1)
