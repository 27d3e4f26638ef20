"""Names and attributes of a source file that mean a NaN or an infinity wherever they are used."""

from __future__ import annotations

import ast
import linecache
import math
from dataclasses import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Assigned = Iterator[tuple[str, ast.expr | None]]

WORDS = {
    "nan": {"nan"},
    "pos_inf": {"inf", "infty", "infinity", "pinf"},
    "neg_inf": {"inf", "infty", "infinity", "ninf"},
}
_ALL_WORDS = frozenset().union(*WORDS.values())
_MOST_FILES = 64


@dataclass
class Constants:
    """The constants that one file has."""

    read: bool = False  # there is a text of it
    assigned: dict[str, list[frozenset[str]]] = field(default_factory=dict)  # kinds, each time
    imported: set[str] = field(default_factory=set)

    def is_constant(self, name: str, kinds: Iterable[str]) -> bool:
        """It is never given anything else than a constant of one of these kinds."""
        return all(not given.isdisjoint(kinds) for given in self.assigned[name])


_known: dict[str, Constants] = {}


def constants_of(filename: str, module_globals: dict | None = None) -> Constants:
    if filename not in _known:
        if len(_known) >= _MOST_FILES:
            _known.clear()
        _known[filename] = _read("".join(linecache.getlines(filename, module_globals)))
    return _known[filename]


def _read(text: str) -> Constants:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return Constants()
    found = Constants(read=bool(text))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found.imported |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        for name, value in _assigned_by(node):
            kinds = frozenset() if value is None else _kinds_of(value)
            found.assigned.setdefault(name, []).append(kinds)
    return found


def _assigned_by(node: ast.AST) -> Assigned:
    """The names that get a value here, and its expression where it is theirs alone."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _targets(target, node.value)
    elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
        yield from _targets(node.target, node.value)
    elif isinstance(node, ast.AugAssign):
        yield from _targets(node.target, None)
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        yield from _targets(node.target, None)
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield from _targets(node.optional_vars, None)
    elif isinstance(node, ast.arguments):
        yield from _defaults(node)


def _targets(target: ast.expr, value: ast.expr | None) -> Assigned:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Attribute):
        yield target.attr, value
    elif isinstance(target, (ast.Tuple, ast.List)):
        alike = isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts)
        values = value.elts if alike else [None] * len(target.elts)
        for part, one in zip(target.elts, values, strict=True):
            yield from _targets(part, one)
    elif isinstance(target, ast.Starred):
        yield from _targets(target.value, None)


def _defaults(arguments: ast.arguments) -> Assigned:
    """A parameter without one says nothing: its callers do."""
    places = arguments.posonlyargs + arguments.args
    with_default = places[len(places) - len(arguments.defaults) :]
    yield from zip((place.arg for place in with_default), arguments.defaults, strict=True)
    for place, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            yield place.arg, default


def _kinds_of(value: ast.expr) -> frozenset[str]:
    """Which kinds an expression of constants alone gives: float("nan"), -math.inf, 1e999."""
    number = _number(value)
    if number is None or math.isfinite(number):
        return frozenset()
    return frozenset({"nan" if math.isnan(number) else "pos_inf" if number > 0 else "neg_inf"})


def _number(value: ast.expr) -> float | None:
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, (ast.USub, ast.UAdd)):
        number = _number(value.operand)
        return -number if number is not None and isinstance(value.op, ast.USub) else number
    if isinstance(value, ast.Constant):
        return float(value.value) if isinstance(value.value, (int, float)) else None
    if isinstance(value, ast.Call):
        return _converted(value)
    if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
        return _named(value.attr)  # math.inf, np.nan
    return None


def _converted(call: ast.Call) -> float | None:
    """float("inf")"""
    if not (isinstance(call.func, ast.Name) and call.func.id == "float" and len(call.args) == 1):
        return None
    given = call.args[0]
    if isinstance(given, ast.Constant) and isinstance(given.value, str):
        return _named(given.value)
    return _number(given)


def _named(word: str) -> float | None:
    bare = word.strip("+-_ ").lower()
    if bare not in _ALL_WORDS:
        return None
    number = math.nan if bare == "nan" else math.inf
    return -number if bare == "ninf" or word.strip().startswith("-") else number
