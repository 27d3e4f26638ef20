"""What NumPy makes of nothing bad while a program is watched: which operation, at which line.

NumPy looks at the processor's floating-point flags after each operation and, where one is raised,
does what its error state says. That state is the program's own: here each one that the program
makes is given a log that tells us first and then does what the program asked for (`NumpyLog`). So
nothing is paid for an operation without an error, and the program sees its own state, warnings and
exceptions.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass

from nanscope import _core
from nanscope.telling.stack import is_user_code
from nanscope.telling.story import Storyteller

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType, ModuleType

MOST_SITES = 64
KINDS = ("divide", "over", "under", "invalid")
# Their results are no floating-point numbers, whatever flag they raise.
_WITHOUT_A_RESULT = frozenset(
    "greater greater_equal less less_equal equal not_equal isclose sign".split()
)


@dataclass
class Birth:
    """The first time that an operation raised a flag on a line; and when it last did."""

    facts: dict
    first: int
    last: int
    hidden: bool  # inside a package that had asked NumPy to be silent

    @property
    def makes_nan(self) -> bool:
        return self.facts["flag"] == "invalid value"

    @property
    def of_bad_operands(self) -> bool:
        return self.facts["kind"] == "imported"


class NumpyBirths:
    """Those of this process; a forked child knows those of its parent."""

    def __init__(self, main_file: str | None = None) -> None:
        self.teller = Storyteller(main_file, None)
        self.births: dict[tuple, Birth] = {}
        self.count = 0
        self.report: Callable[[int], object] | None = None  # of each, how many there were
        self.watched = False
        self.folder = ""
        self._busy = False

    # ---------------------------------------------------------------- the error state
    def begin(self, numpy: ModuleType) -> None:
        """Called when NumPy has been imported. A NumPy before 2.0 keeps its state elsewhere, and
        is not watched.
        """
        try:
            config = sys.modules["numpy._core._ufunc_config"]
            self._stand_in(config)
        except (KeyError, AttributeError, TypeError, ValueError):
            return
        self.folder = os.path.dirname(os.path.abspath(numpy.__file__)) + os.sep
        self.watched = True
        self.begin_thread()
        kind = threading.Thread
        inner = kind._bootstrap_inner
        begin = _core.Around(inner, before=self.begin_thread)
        kind._bootstrap_inner = _Bound(begin)

    def begin_thread(self, *_: object) -> None:
        """A new thread has NumPy's default state."""
        config = sys.modules["numpy._core._ufunc_config"]
        config._extobj_contextvar.set(config._make_extobj())

    def _stand_in(self, config: ModuleType) -> None:
        """Stand-ins of C: what NumPy refuses, it refuses without a frame of ours."""
        state = _State(config, self.take)
        make = _core.Around(state.make, before=state.be_the_programs, after=state.with_the_log)
        config._make_extobj = make
        config._get_extobj_dict = _core.Around(state.read, after=state.own)

    # ---------------------------------------------------------------- what it tells
    def take(self, words: str) -> None:
        """An operation raised a flag; its frame is the one that called."""
        if self._busy or words.startswith("underflow") or not _has_result(words):
            return
        frame = sys._getframe(1)
        caller = frame
        while caller.f_back is not None and caller.f_code.co_filename.startswith(self.folder):
            caller = caller.f_back
        self.count += 1
        key = caller.f_code, caller.f_lasti, words
        known = self.births.get(key)
        if known is not None:
            known.last = self.count
        elif len(self.births) < MOST_SITES:
            with self.aside():  # our own work raises flags too
                self._add(key, words, frame)
        if self.report is not None:
            self.report(self.count)

    def _add(self, key: tuple, words: str, frame: FrameType) -> None:
        import numpy

        from nanscope.outside import numpy_reports

        with numpy.errstate(all="ignore"):
            facts, _ = numpy_reports.describe(words, frame, self.teller)
        caller: FrameType | None = frame
        while caller is not None and caller.f_code is not key[0]:
            caller = caller.f_back
        mine = caller is not None and is_user_code(caller.f_code.co_filename, self.teller.main_file)
        hidden = not mine or caller is not frame
        self.births[key] = Birth(facts, self.count, self.count, hidden)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What is computed inside is not the program's."""
        before, self._busy = self._busy, True
        try:
            yield
        finally:
            self._busy = before

    # ---------------------------------------------------------------- what is asked of it
    def origin_of(self, nan: bool, count: int) -> dict | None:
        """The operation that most likely made a value which came to torch after so many births;
        None, if none can have.
        """
        known = [birth for birth in self.births.values() if birth.first <= count]
        best = _latest([birth for birth in known if birth.makes_nan is nan], count)
        if best is None and nan:  # made of an infinity, where NumPy raises no flag
            best = _latest(known, count)
        while best is not None and best.of_bad_operands:
            before = [birth for birth in known if birth.first < best.first]
            earlier = _latest(before, best.first)
            if earlier is None:
                break
            best, known = earlier, before
        return None if best is None else best.facts | {"kind": "birth"}


class _State:
    """NumPy's error state, as the program made it and as it is."""

    def __init__(self, config: ModuleType, take: Callable[[str], None]) -> None:
        self.make, self.read = config._make_extobj, config._get_extobj_dict
        self.current = config._extobj_contextvar
        self.take = take
        self.before = threading.local()

    def own(self, state: dict) -> dict:
        """The program's, of the one that NumPy has."""
        return state | state["call"].state if type(state["call"]) is _core.NumpyLog else state

    def be_the_programs(self, *_: object) -> None:
        """What the program asks for now is meant to change what it asked for before."""
        token = self.current.set(self.make(**self.own(self.read())))
        self.before.token = token

    def with_the_log(self, asked: object):
        self.current.set(asked)
        state = self.read()
        self.current.reset(self.before.token)
        wanted = {state[kind] for kind in KINDS}
        if "call" in wanted or ("log" in wanted and state["call"] is None):
            return asked  # who is called is told more than a log
        log = _core.NumpyLog(state, self.take)
        ours = {kind: "log" for kind in KINDS if kind != "under" or state[kind] != "ignore"}
        return self.make(**(state | ours | {"call": log}))


class _Bound:
    """A C function as a method."""

    def __init__(self, function) -> None:
        self.function = function

    def __get__(self, instance, owner=None):
        from types import MethodType

        return self.function if instance is None else MethodType(self.function, instance)


def _has_result(words: str) -> bool:
    name = words.rpartition(" ")[2]
    if name == "cast":
        return not words.startswith("invalid")  # of a NaN to an integer
    return name not in _WITHOUT_A_RESULT


def _latest(births: list[Birth], count: int) -> Birth | None:
    """What a line of the program did comes before what a package did inside."""
    open_ones = [birth for birth in births if not birth.hidden]
    chosen = open_ones or births
    return max(chosen, key=lambda birth: min(birth.last, count), default=None)
