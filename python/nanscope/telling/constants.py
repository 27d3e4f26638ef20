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
_MOST_STEPS = 4  # from a name to those that its value is made of
_MOST_ASSIGNED = 256


@dataclass(frozen=True)
class Given:
    """A name, an attribute or a key gets a value on these lines, made of these others."""

    lines: range
    of: frozenset[str]


@dataclass
class Constants:
    """The constants that one file has."""

    read: bool = False  # there is a text of it
    assigned: dict[str, list[frozenset[str]]] = field(default_factory=dict)  # kinds, each time
    attributes: set[tuple[str, str]] = field(default_factory=set)  # ("x", "name") of x.name = 1
    imported: set[str] = field(default_factory=set)
    given: dict[str, list[Given]] = field(default_factory=dict)  # where each gets its values

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
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.attributes |= {(owner, node.attr) for owner in _named_by(node.value)}
        for name, value in _assigned_by(node):
            kinds = frozenset() if value is None else _kinds_of(value)
            found.assigned.setdefault(name, []).append(kinds)
        for name, given in _given_by(node):
            found.given.setdefault(name, []).append(given)
    return found


def assigned_at(filename: str, module_globals: dict | None, names: Iterable[str]) -> list[int]:
    """The lines on which these names, attributes or keys get their values, and those of which
    these are made.
    """
    known = constants_of(filename, module_globals).given
    lines: set[int] = set()
    seen: set[str] = set()
    waiting = [name for name in names if name in known]
    for _ in range(_MOST_STEPS):
        asked = {name for name in waiting if name not in seen}
        seen |= asked
        found = [given for name in asked for given in known[name]]
        lines.update(line for given in found for line in given.lines)
        waiting = [name for given in found for name in given.of if name in known]
    return sorted(lines)[:_MOST_ASSIGNED]


def _given_by(node: ast.AST) -> Iterator[tuple[str, Given]]:
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, _given(value, value)
    elif isinstance(node, ast.arguments):
        for name, value in _defaults(node):
            yield name, _given(value, value)
    elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if node.value is not None:
            for name in (name for target in targets for name in _called(target)):
                yield name, _given(node, node.value)
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        for name in _called(node.target):
            yield name, _given(node.iter, node.iter)


def _given(whole: ast.stmt | ast.expr, value: ast.expr) -> Given:
    lines = range(whole.lineno, (whole.end_lineno or whole.lineno) + 1)
    return Given(lines, frozenset(name for part in ast.walk(value) for name in _named_by(part)))


def _called(target: ast.expr) -> Iterator[str]:
    """The name, the attribute or the key; of several targets, each."""
    if isinstance(target, (ast.Tuple, ast.List)):
        for part in target.elts:
            yield from _called(part)
    elif isinstance(target, ast.Starred):
        yield from _called(target.value)
    elif isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Constant):
        yield from _called(target.value)
    elif isinstance(target, ast.Subscript):
        yield from _named_by(target.slice)
    else:
        yield from _named_by(target)


def _named_by(part: ast.AST) -> Iterator[str]:
    if isinstance(part, ast.Name):
        yield part.id
    elif isinstance(part, ast.Attribute):
        yield part.attr
    elif isinstance(part, ast.Constant) and isinstance(part.value, str):
        yield part.value


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
