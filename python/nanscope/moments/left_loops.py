"""Was a loop left early because of a number that is not finite?

Python tells nobody of a `break`. So from the moment when the program reads a bad number that no
gradient flows through until its next step, the lines of its own code are followed: does a test look
at such a number, or at something that was set because of one, and does the program then leave a
loop otherwise than by its end? Only for so long, and only so often; a program that is traced by
somebody else is left alone, and then nobody knows.
"""

from __future__ import annotations

import ast
import sys
from functools import lru_cache
from threading import get_ident

from nanscope.moments.decisions import source_of, values_in, values_in_test

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, ModuleType

_MOST_WINDOWS = 200
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_SETS = (ast.Assign, ast.AugAssign, ast.AnnAssign)


class LeftLoops:
    def __init__(self, adapter: ModuleType, is_users: Callable[[str], bool]) -> None:
        self.adapter = adapter
        self.is_users = is_users
        self.windows = 0
        self.tracing = False
        self.thread = 0
        self.step = -1
        self.left_at = -1  # the step at which a loop was left early
        self.unknown_at = -1
        self.influenced: set[str] = set()  # names that were set because of it
        self.lines: dict[FrameType, int] = {}  # where each followed frame is
        self.begun: dict[FrameType, int] = {}  # where the read was: that line may be a test, too

    # ---------------------------------------------------------------- begin and end
    def bad_read(self) -> None:
        """The program has just read such a number, on this thread."""
        step = self.adapter.current_step()
        if self.tracing and self.step == step:
            return
        frame, frames = sys._getframe(1), []
        while frame is not None:
            if self.is_users(frame.f_code.co_filename):
                frames.append(frame)
            frame = frame.f_back
        if not any(_loops_around(one, one.f_lineno) for one in frames):
            return
        if sys.gettrace() is not None or self.windows >= _MOST_WINDOWS:
            self.unknown_at = step
            return
        self.windows += 1
        self.tracing, self.step, self.thread = True, step, get_ident()
        self.influenced.clear()
        self.lines = {one: one.f_lineno for one in frames}
        self.begun = dict(self.lines)
        for one in frames:
            one.f_trace = self._local
        sys.settrace(self._global)

    def stop(self) -> None:
        if not self.tracing:
            return
        self.tracing = False
        if get_ident() == self.thread and sys.gettrace() == self._global:
            sys.settrace(None)
        for frame in self.lines:
            if frame.f_trace == self._local:
                frame.f_trace = None
        self.lines, self.begun = {}, {}

    # ---------------------------------------------------------------- while it lasts
    def _global(self, frame: FrameType, event: str, _: object):
        if not self.tracing:
            sys.settrace(None)
            return None
        return self._local if self.is_users(frame.f_code.co_filename) else None

    def _local(self, frame: FrameType, event: str, _: object):
        if not self.tracing:
            return None
        try:
            if self.adapter.current_step() != self.step:
                self.stop()  # the training went on
                return None
            if event == "line":
                if frame in self.begun:
                    self._looks(frame, self.begun.pop(frame))
                self._moved(frame, frame.f_lineno)
                self._looks(frame, frame.f_lineno)
            elif event == "return":
                self._moved(frame, 0)
                self.lines.pop(frame, None)
        except Exception:
            self.stop()
        return self._local if self.tracing else None

    def _moved(self, frame: FrameType, line: int) -> None:
        """Out of a loop, and not from its head?"""
        before = self.lines.get(frame)
        self.lines[frame] = line
        if before is None:
            return
        for loop in _loops_around(frame, before):
            inside = loop.lineno <= line <= (loop.end_lineno or loop.lineno)
            if inside or before < loop.body[0].lineno or self._in_else(loop, before):
                continue
            if self._because_of_it(frame, before, loop):
                self.left_at = self.step

    @staticmethod
    def _in_else(loop: ast.For, line: int) -> bool:
        return bool(loop.orelse) and line >= loop.orelse[0].lineno

    def _because_of_it(self, frame: FrameType, line: int, loop: ast.For) -> bool:
        """A test between the loop and the line looked at it, or at what was set because of it."""
        for node in _around(frame, line):
            if not isinstance(node, (ast.If, ast.While)) or node.lineno <= loop.lineno:
                continue
            if self._concerns(frame, node.test):
                return True
        return False

    def _concerns(self, frame: FrameType, test: ast.expr) -> bool:
        if any(name in self.influenced for name in _names_in(test)):
            return True
        looked = values_in_test(test, frame)
        return bool(looked.numbers) or self.adapter.any_bad(looked.tensors)

    def _looks(self, frame: FrameType, line: int) -> None:
        for node in _statements_at(frame, line):
            if isinstance(node, (ast.If, ast.While)) and self._concerns(frame, node.test):
                for child in [*node.body, *node.orelse]:
                    for one in ast.walk(child):
                        if isinstance(one, _SETS):
                            self.influenced.update(_targets(one))
            elif isinstance(node, _SETS) and node.value is not None:
                called = isinstance(node.value, (ast.Call, ast.Compare, ast.BoolOp, ast.UnaryOp))
                if called and self._is_decided_by(frame, node.value):
                    self.influenced.update(_targets(node))

    def _is_decided_by(self, frame: FrameType, value: ast.expr) -> bool:
        """`stop = stopper(score)`, `bad = not math.isfinite(score)`."""
        looked = values_in(value, frame).without_infinities()
        return bool(looked.numbers) or self.adapter.any_bad(looked.tensors)


# -------------------------------------------------------------------- the source
def _around(frame: FrameType, line: int) -> list[ast.AST]:
    """The statements that this line is in, the outermost first."""
    return _tables(frame.f_code.co_filename)[0].get(line, [])


def _loops_around(frame: FrameType, line: int) -> list[ast.AST]:
    first = frame.f_code.co_firstlineno
    return [
        node for node in _around(frame, line) if isinstance(node, _LOOPS) and node.lineno >= first
    ]


def _statements_at(frame: FrameType, line: int) -> list[ast.AST]:
    return _tables(frame.f_code.co_filename)[1].get(line, [])


@lru_cache(64)
def _tables(filename: str) -> tuple[dict[int, list[ast.AST]], dict[int, list[ast.AST]]]:
    source, around, begins = source_of(filename), {}, {}
    if source is None:
        return around, begins

    def walk(node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                begins.setdefault(child.lineno, []).append(child)
                if isinstance(child, (*_LOOPS, ast.If)):
                    for line in range(child.lineno, (child.end_lineno or child.lineno) + 1):
                        around.setdefault(line, []).append(child)
            walk(child)

    walk(source.tree)
    return around, begins


def _names_in(node: ast.AST) -> set[str]:
    names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    return names | {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}


def _targets(node: ast.AST) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    names = set()
    for target in targets:
        for one in ast.walk(target):
            if isinstance(one, ast.Attribute):
                names.add(one.attr)
            elif isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
                names.add(one.id)
    return names


# -------------------------------------------------------------------- of this process
_followed: LeftLoops | None = None


def begin(adapter: ModuleType, is_users: Callable[[str], bool]) -> LeftLoops:
    global _followed
    _followed = LeftLoops(adapter, is_users)
    return _followed


def stop() -> None:
    """Nothing is followed any more: a trace would outlive the program, into an interpreter that is
    torn down.
    """
    if _followed is not None:
        _followed.stop()


def end() -> tuple[bool, bool]:
    """Left early since the last step; and whether nobody can know."""
    loops = _followed
    if loops is None:
        return False, False
    loops.stop()
    step = loops.adapter.current_step()
    left, unknown = loops.left_at == step, loops.unknown_at == step
    loops.left_at = loops.unknown_at = -1
    return left, unknown and not left
