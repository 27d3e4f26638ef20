"""Which values did the code look at that ended the program?

Of an exception that nobody caught, and of SystemExit: what the call that raised was given, and what
the tests looked at that lead to a `raise`. Names are looked up in the frames that are still there;
nothing of the program is called.
"""

from __future__ import annotations

import ast
import math
import re
import sys
from functools import lru_cache

from nanscope.telling.stack import full_path, is_user_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType, TracebackType

_MOST_ITEMS = 1000
_MOST_ELEMENTS = 10_000_000
_MOST_FRAMES = 64
_FINITE_TEST = re.compile(r"^is_?(finite|nan|inf|na|null)")


class Looked:
    """Tensors, numbers that are not finite, and arrays that hold such."""

    def __init__(self) -> None:
        self.tensors: list[object] = []
        self.numbers: list[float] = []
        self.arrays: list[object] = []

    def add(self, value: object, depth: int = 2) -> None:
        torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
        kind = type(value)
        if torch is not None and issubclass(kind, torch.Tensor):
            self.tensors.append(value)
        elif kind is float or (numpy is not None and issubclass(kind, numpy.floating)):
            if not math.isfinite(value):
                self.numbers.append(float(value))
        elif numpy is not None and issubclass(kind, numpy.ndarray):
            self._add_array(numpy, value, depth)
        elif kind.__module__.partition(".")[0] == "pandas":
            self._add_table(numpy, value)
        elif depth > 0 and kind is dict:
            for item in list(value.values())[:_MOST_ITEMS]:
                self.add(item, depth - 1)
        elif depth > 0 and kind in (list, tuple, set, frozenset):
            for item in list(value)[:_MOST_ITEMS]:
                self.add(item, depth - 1)

    def _add_array(self, numpy: object, array: object, depth: int) -> None:
        if array.dtype.kind == "O" and depth > 0:
            for item in array.ravel()[:_MOST_ITEMS].tolist():
                self.add(item, depth - 1)
        elif array.dtype.kind in "fc" and 0 < array.size <= _MOST_ELEMENTS:
            if numpy.isfinite(array).all():
                return
            self.arrays.append(array)
            real = array.real if array.dtype.kind == "c" else array
            if numpy.isnan(real).any():
                self.numbers.append(math.nan)
            if numpy.isposinf(real).any():
                self.numbers.append(math.inf)
            if numpy.isneginf(real).any():
                self.numbers.append(-math.inf)

    def _add_table(self, numpy: object, table: object) -> None:
        try:
            if hasattr(table, "select_dtypes"):
                table = table.select_dtypes("number")
            array = table.to_numpy()
            if isinstance(array, numpy.ndarray) and array.dtype.kind == "f":
                self._add_array(numpy, array, 0)
        except Exception:
            pass  # some other thing of that package

    def without_infinities(self) -> Looked:
        """`loss < best`, where `best` began as inf, tests nothing but a NaN."""
        rest = Looked()
        rest.tensors = self.tensors
        rest.numbers = [number for number in self.numbers if math.isnan(number)]
        rest.arrays = self.arrays if rest.numbers else []
        return rest

    def take(self, other: Looked) -> None:
        self.tensors += other.tensors
        self.numbers += other.numbers
        self.arrays += other.arrays


def handed_to_what_raised(trace: TracebackType | None, main_file: str | None = None) -> Looked:
    """What the last call of the program's own code was given, and what made it raise."""
    looked = Looked()
    steps = []
    while trace is not None:
        steps.append((trace.tb_frame, trace.tb_lasti))
        trace = trace.tb_next
    below: list[FrameType] = []
    for frame, lasti in reversed(steps[-_MOST_FRAMES:]):
        if is_user_code(frame.f_code.co_filename, main_file):
            looked.take(_looked_at(frame, lasti))
            break
        below.append(frame)
    for frame in below:
        for value in _arguments(frame):
            looked.add(value)
    return looked


def _arguments(frame: FrameType) -> Iterator[object]:
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & 4) + bool(code.co_flags & 8)  # *args, **kwargs
    for name in code.co_varnames[:count]:
        if name in frame.f_locals:
            yield frame.f_locals[name]


def _looked_at(frame: FrameType, lasti: int) -> Looked:
    source = source_of(frame.f_code.co_filename)
    place = _place(frame, lasti)
    looked = Looked()
    if source is None or place is None:
        return looked
    path = source.path_to(*place)
    if not path:
        return looked
    statement = next((node for node in reversed(path) if isinstance(node, ast.stmt)), None)
    if isinstance(statement, (ast.Raise, ast.Assert)):
        looked.take(values_in(statement, frame))
    else:
        looked.take(values_in(path[-1], frame))
    if isinstance(statement, ast.Raise) or _exits(path):
        for node in path:
            if isinstance(node, (ast.If, ast.While)):
                looked.take(values_in_test(node.test, frame))
    return looked


def _exits(path: list[ast.AST]) -> bool:
    """sys.exit(1), exit(1), os.abort(), parser.error("...")."""
    names = {"exit", "_exit", "quit", "abort", "fail", "error"}
    calls = [node.func for node in path if isinstance(node, ast.Call)]
    return any(getattr(f, "attr", getattr(f, "id", "")) in names for f in calls)


def _place(frame: FrameType, lasti: int) -> tuple[int, int, int, int] | None:
    positions = list(frame.f_code.co_positions())
    place = positions[lasti // 2] if lasti // 2 < len(positions) else (None,) * 4
    return None if None in place else (place[0], place[2], place[1], place[3])


def values_in_test(test: ast.expr, frame: FrameType) -> Looked:
    """An Inf counts only in a test for it."""
    looked = values_in(test, frame)
    return looked if _is_finite_test(test) else looked.without_infinities()


def _is_finite_test(test: ast.expr) -> bool:
    for node in ast.walk(test):
        name = getattr(node, "attr", getattr(node, "id", ""))
        if isinstance(node, (ast.Attribute, ast.Name)) and _FINITE_TEST.match(name):
            return True
        if isinstance(node, ast.Compare) and ast.dump(node.left) in map(ast.dump, node.comparators):
            return True
    return False


def values_in(node: ast.AST, frame: FrameType) -> Looked:
    looked = Looked()
    _visit(node, frame, looked)
    return looked


def _visit(node: ast.AST, frame: FrameType, looked: Looked) -> None:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        return
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        found, value = _resolve(node, frame)
        if found:
            looked.add(value)
            return
    for child in ast.iter_child_nodes(node):
        _visit(child, frame, looked)


def _resolve(node: ast.AST, frame: FrameType) -> tuple[bool, object]:
    """By looking only: no property, no method of the program is run."""
    if isinstance(node, ast.Name):
        for names in (frame.f_locals, frame.f_globals):
            if node.id in names:
                return True, names[node.id]
        return False, None
    if isinstance(node, ast.Attribute):
        found, owner = _resolve(node.value, frame)
        own = getattr(owner, "__dict__", None) if found else None
        if isinstance(own, dict) and node.attr in own:
            return True, own[node.attr]
        return False, None
    if isinstance(node, ast.Subscript):
        found, owner = _resolve(node.value, frame)
        if not found or type(owner) not in (dict, list, tuple):
            return False, None
        if isinstance(node.slice, ast.Constant):
            known, key = True, node.slice.value
        elif isinstance(node.slice, ast.UnaryOp) and isinstance(node.slice.operand, ast.Constant):
            known, key = True, -node.slice.operand.value
        else:
            known, key = _resolve(node.slice, frame)
        try:
            return (True, owner[key]) if known else (False, None)
        except Exception:
            return False, None
    return False, None


class Source:
    """The text of a file as a tree."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree

    def path_to(self, line: int, col: int, end_line: int, end_col: int) -> list[ast.AST]:
        """From the outermost node to the innermost that covers this place; columns in bytes."""
        path: list[ast.AST] = []
        node: ast.AST | None = self.tree
        while node is not None:
            path.append(node)
            node = next(
                (
                    child
                    for child in _positioned(node)
                    if (child.lineno, child.col_offset) <= (line, col)
                    and (child.end_lineno, child.end_col_offset) >= (end_line, end_col)
                ),
                None,
            )
        return path[1:]


def _positioned(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if hasattr(child, "lineno"):
            yield child
        else:
            yield from _positioned(child)


@lru_cache(64)
def source_of(filename: str) -> Source | None:
    try:
        with open(full_path(filename), "rb") as file:
            return Source(ast.parse(file.read()))
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None
