"""The operand that broke an op, made again in float64 from what the source computes it of.

Asked at a hit, on the thread and in the frame of the op. If the expression in the source still
gives the very number that went into the op, and gives another one in float64, precision was lost on
the way; the part of the expression where it was lost says how: a difference that cancels, a value
that underflows, a guard that is rounded away.
"""

from __future__ import annotations

import ast
import math
import sys
from collections import deque
from collections.abc import Iterator
from functools import lru_cache

from nanscope.telling import shadow, source
from nanscope.telling.functions import functions_that

MOST_TIMES = 512  # for one place in the program, and then never again
DIVIDES = functions_that("divides")
NEVER_ZERO = functions_that("never_zero")
DIFFERENCES = (ast.Add, ast.Sub)
ELEMENT_BY_ELEMENT = functions_that("elementwise")


class _Place:
    """An expression, and the function it stands in."""

    def __init__(self, node: ast.expr, function: ast.AST) -> None:
        self.node = node
        self.function = function


_places: dict[tuple[object, int], _Place | None] = {}
_times: dict[tuple[object, int], int] = {}


def make_again(op: str, index: list[int], value: float) -> dict | None:
    """`op`: its bare name; `index`: the failing element of the result; `value`: of the operand."""
    try:
        frame = sys._getframe(1)
        if frame.f_code.co_filename.endswith("torch/_tensor.py") and frame.f_back is not None:
            frame = frame.f_back  # 1 / x is written in Python there
        key = frame.f_code, frame.f_lasti
        _times[key] = _times.get(key, 0) + 1
        torch = sys.modules.get("torch")
        if torch is None or _times[key] > MOST_TIMES or torch._C._len_torch_function_stack() > 0:
            return None
        if op == "addcdiv":
            return _guard_of_update(torch, frame, index, value)
        if key not in _places:
            _places[key] = _find(*key)
        place = _places[key]
        return _made_again(torch, frame, place, op, index, value) if place else None
    except (shadow.Unknown, RecursionError, AttributeError, TypeError, ValueError, RuntimeError):
        return None


def _guard_of_update(torch, frame, index: list[int], value: float) -> dict | None:
    """torch.optim's own update: its eps, where the type of the state has no such number."""
    eps, divisor, update = (frame.f_locals.get(name) for name in ("eps", "denom", "exp_avg"))
    known = isinstance(eps, float) and type(divisor) is torch.Tensor is type(update)
    if value != 0 or not known or eps <= 0 or float(torch.tensor(eps, dtype=divisor.dtype)) != 0:
        return None
    look = _Look(torch, index)
    dividend = look.at(update)
    if dividend is None:
        return None
    return {
        "code": "denom",
        "result": dividend / eps,
        "complete": False,
        "lost_at": "add_(eps)",
        "lost_line": frame.f_lineno,
        "loss": "guard",
        "guard": f"eps = {eps:g}",
        "exactly": eps,
    }


def _find(code, lasti: int) -> _Place | None:
    """The expression that runs, in the function it stands in."""
    site = source.locate(code, lasti)
    text, _ = source.keeper.text(code)
    if not site.code or text is None:
        return None
    tree = _parsed(text)
    if tree is None:
        return None
    best, function = None, tree
    for node in _around(tree, site.line):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            function = node
        if isinstance(node, ast.expr) and ast.get_source_segment(text, node) == site.expression:
            best = node
    return _Place(best, function) if best is not None else None


@lru_cache(maxsize=8)
def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except SyntaxError:
        return None


def _around(tree: ast.AST, line: int) -> Iterator[ast.AST]:
    """The nodes that stand on this line, outer ones first: not all of a long file is walked."""
    waiting = deque([tree])
    while waiting:
        node = waiting.popleft()
        first = getattr(node, "lineno", None)
        if first is not None and not first <= line <= (node.end_lineno or first):
            continue
        if first is not None:
            yield node
        waiting.extend(ast.iter_child_nodes(node))


def _operand(node: ast.expr, op: str) -> ast.expr | None:
    """The operand that decides: the divisor, the argument of a function."""
    if isinstance(node, ast.BinOp):
        wanted = {"div": ast.Div, "reciprocal": ast.Div, "pow": ast.Pow}.get(op)
        if wanted is None or not isinstance(node.op, wanted):
            return None
        return node.left if op == "pow" else node.right
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    if node.func.attr not in (op, op.replace("arc", "a")):
        return None
    operands = list(node.args)
    if not (isinstance(node.func.value, ast.Name) and node.func.value.id in ("torch", "F")):
        operands.insert(0, node.func.value)
    place = 1 if op in DIVIDES else 0
    return operands[place] if place < len(operands) else None


def _made_again(torch, frame, place: _Place, op: str, index: list[int], value: float):
    operand = _operand(place.node, op)
    if operand is None:
        return None
    evaluator = shadow.Evaluator(torch, frame, place.function, place.node.lineno)
    made = evaluator.of(operand, place.node.lineno)
    look = _Look(torch, index)
    if look.at(made.native) != value:
        return None  # not what went in
    whole = evaluator.of(place.node, place.node.lineno)
    result = look.at(whole.wide)
    if result is None:
        return None
    answer = {"code": ast.unparse(operand), "result": result, "complete": made.complete}
    return answer | look.lost_in(made)


class _Look:
    """At the failing element, wherever a value has one."""

    def __init__(self, torch, index: list[int]) -> None:
        self.torch = torch
        self.index = index

    def at(self, value) -> float | None:
        if isinstance(value, int | float):
            return float(value)
        if type(value) is not self.torch.Tensor or value.is_complex():
            return None
        if value.dim() > len(self.index):
            return None
        mine = self.index[len(self.index) - value.dim() :] if value.dim() else []
        sizes = list(value.shape)
        place = [0 if size == 1 else i for i, size in zip(mine, sizes, strict=True)]
        if any(i >= size for i, size in zip(place, sizes, strict=True)):
            return None
        return float(value[tuple(place)])

    def both(self, made: shadow.Shadow) -> tuple[float | None, float | None]:
        return self.at(made.native), self.at(made.wide)

    def is_off(self, made: shadow.Shadow) -> bool:
        """Another number, not only other last digits."""
        native, wide = self.both(made)
        return native is not None and wide is not None and _differ(native, wide)

    def lost_in(self, made: shadow.Shadow) -> dict:
        part = made
        while True:
            below = [each for each in _aligned(part) if self.is_off(each)]
            if not below:
                break
            part = below[0]
        native, wide = self.both(part)
        if self.is_off(part):
            guard = self.guard_in(part)
            if guard is not None:
                return self.lost(guard[0], "guard", guard[1])
            return self.lost(part, _how(part, native, wide))
        return self.vanished(made)

    def lost(self, part: shadow.Shadow, loss: str, guard: str = "") -> dict:
        return {
            "lost_at": ast.unparse(part.node),
            "lost_line": part.node.lineno,
            "loss": loss,
            "guard": guard,
            "exactly": self.at(part.wide),
        }

    def vanished(self, made: shadow.Shadow) -> dict:
        """0 in float64 too: a function that is never 0 underflowed there as well, or got -inf."""
        part = made
        while True:
            name = shadow.called(part.node)
            native, wide = self.both(part)
            inside = self.at(part.parts[0].native) if part.parts else None
            if name in NEVER_ZERO and native == 0 and wide == 0:
                finite = inside is not None and math.isfinite(inside)
                return self.lost(part, "underflow" if finite else "masked")
            zero = [each for each in _aligned(part) if self.at(each.native) == 0 and each.parts]
            if native != 0 or not zero:
                return {}
            part = zero[0]

    def guard_in(self, part: shadow.Shadow) -> tuple[shadow.Shadow, str] | None:
        """A number that should have kept the value away, and was rounded away itself."""
        found = self.lost_guard(part)
        if found is not None:
            return part, found
        for each in _aligned(part):
            if self.at(each.native) is not None:
                below = self.guard_in(each)
                if below is not None:
                    return below
        return None

    def lost_guard(self, part: shadow.Shadow) -> str | None:
        native, wide = self.both(part)
        if native is None or wide is None or native == wide:
            return None
        if not isinstance(part.native, self.torch.Tensor):
            return None
        name = shadow.called(part.node)
        bounds = name in ("clamp", "clip", "clamp_min", "clamp_max", "maximum", "minimum")
        adds = isinstance(part.node, ast.BinOp) and isinstance(part.node.op, DIFFERENCES)
        for each in part.parts[1:] if bounds else part.parts if adds else ():
            number = each.wide
            if not isinstance(number, int | float) or number == 0:
                continue
            others = [other for other in part.parts if other is not each]
            beside = self.at(others[0].native) if others else None
            if bounds and native in (0.0, 1.0, -1.0) and self.becomes(number, part) == native:
                return _spelled(each.node, number)
            if adds and native == beside and abs(number) < 0.01:
                return _spelled(each.node, number)
        return None

    def becomes(self, number: float, part: shadow.Shadow) -> float | None:
        """The number in the type of this part, if that is another one."""
        rounded = float(self.torch.tensor(number, dtype=part.native.dtype))
        return rounded if rounded != number else None


def _aligned(part: shadow.Shadow) -> tuple[shadow.Shadow, ...]:
    """What goes in, where its elements have the places of the result's."""
    moved = shadow.called(part.node) not in ELEMENT_BY_ELEMENT
    if isinstance(part.node, ast.Call | ast.Subscript | ast.Attribute) and moved:
        return ()
    return () if _is_product(part.node) else part.parts


def _is_product(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)


def _differ(native: float, wide: float) -> bool:
    if native == wide or math.isnan(native) or math.isnan(wide):
        return False
    if native == 0 or wide == 0 or (native < 0) != (wide < 0):
        return True
    return abs(native - wide) > 0.25 * abs(wide)


def _how(part: shadow.Shadow, native: float | None, wide: float | None) -> str:
    differs = isinstance(part.node, ast.BinOp) and isinstance(part.node.op, DIFFERENCES)
    if differs or shadow.called(part.node) in ("sub", "subtract", "add"):
        saturated = any(isinstance(each.native, int | float) for each in part.parts)
        return "rounding" if saturated and native == 0 else "cancellation"
    return "underflow" if native == 0 else "rounding"


def _spelled(node: ast.expr, number: float) -> str:
    text = ast.unparse(node)
    return text if any(c.isdigit() for c in text) else f"{text} = {number:g}"
