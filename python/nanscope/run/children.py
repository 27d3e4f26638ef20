"""Child processes: each watches itself, and tells the run when it found an error.

A forked child takes the watch over. A child that multiprocessing spawns, or forks from its server,
is a fresh interpreter: it learns of the run from an entry in the data that multiprocessing prepares
for it, whose reading begins a watch there before the child imports the program. Another Python that
the program starts by itself is watched through its environment (following.py), or counted.
"""

from __future__ import annotations

import os
import posix
import sys
from _thread import _local, get_ident

from nanscope import _core
from nanscope.compiled.processes import is_compiler_at_work
from nanscope.errors import ChildStop
from nanscope.outside.arrivals import arrivals
from nanscope.ranks import together
from nanscope.run.ending import REAL_EXIT, Ending, leave_at_once, replaces_stop
from nanscope.run.following import Following, is_python
from nanscope.run.imports import when_imported
from nanscope.run.process import Watch
from nanscope.run.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from nanscope.moments.held import Raised

FOLLOWED = ("subprocess.Popen", "os.posix_spawn")  # through the environment
# Read by pickle in the child; one without nanscope runs on without it.
BEGIN = """try:
    from nanscope.run.children import begin_spawned as _begin
    _begin({!r})
except Exception:
    pass
"""


class _Spawned:
    """Pickled, it is the text that begins the watch in the child; unpickled, it is nothing."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def __reduce__(self):
        return exec, (BEGIN.format(self.settings.for_child()),)


class _Bootstrap:
    """BaseProcess._bootstrap: when it returns, the child's exit status, the child has ended."""

    def __init__(self, original, ended) -> None:
        self.original = original
        self.ended = ended

    def __get__(self, instance, owner=None):
        return _core.Around(self.original.__get__(instance, owner), after=self.ended)


class _EndsWithItsThread:
    """Kept for the thread on which this process was forked: the process ends with that thread, and
    nobody else tells of it.
    """

    def __init__(self, ended) -> None:
        self.ended = ended

    def __del__(self) -> None:
        self.ended()


class Children:
    """The children of this process, and its own end if it is one."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.raised: Raised | None = None  # what ended a child's target
        self.stopped = False  # its target, by us
        self.main_thread = get_ident()
        self.on_main_thread = True  # the fork that begins
        self.of_thread = _local()

    def follow(self) -> None:
        watch = self.watch
        # First of all, so that it is the last before a fork and the first after it.
        os.register_at_fork(
            before=self._fork_begins,
            after_in_parent=self._forked_in_parent,
            after_in_child=self._forked_in_child,
        )
        os._exit = posix._exit = _core.Around(REAL_EXIT, before=watch.exits)
        _core.hear_of_programs(self._other_program)
        if watch.settings.follow:
            watch.following = Following(watch.settings)
            watch.following.begin()
        when_imported("multiprocessing.spawn", self._wrap_spawn)
        when_imported("multiprocessing.process", self._wrap_process)
        when_imported("multiprocessing.util", self._wrap_util)

    def _fork_begins(self) -> None:
        self.on_main_thread = get_ident() == self.main_thread
        if self.watch.adapter is not None:
            self.watch.adapter.fork_begins()

    def _forked_in_parent(self) -> None:
        arrivals.other_processes = True
        if self.watch.adapter is not None:
            self.watch.adapter.fork_ended()

    def _forked_in_child(self) -> None:
        self.watch.forked()
        if not self.on_main_thread and not hasattr(self.of_thread, "end"):
            self.of_thread.end = _EndsWithItsThread(self._thread_ended)

    def _thread_ended(self) -> None:
        """Python has run no atexit callback, and gives no other status than 0."""
        watch = self.watch
        if watch.judging or not watch.settings.is_child:
            return
        status = watch.judge(Ending("stopped" if watch.swallowed_a_stop else "normally", 0))
        if status:
            REAL_EXIT(status)
        _core.end_last_words()  # a thread of ours would keep the process alive

    # ---------------------------------------------------------------- multiprocessing
    def _wrap_spawn(self, spawn: ModuleType) -> None:
        def with_the_watch(data: dict) -> dict:
            arrivals.other_processes = True
            data["nanscope"] = _Spawned(self.watch.settings)
            return data

        spawn.get_preparation_data = _core.Around(spawn.get_preparation_data, after=with_the_watch)

    def _wrap_process(self, process: ModuleType) -> None:
        base = process.BaseProcess
        base._bootstrap = _Bootstrap(base._bootstrap, self._child_ended)

    def _wrap_util(self, util: ModuleType) -> None:
        util._exit_function = _core.Around(util._exit_function, before=self._target_ended)

    def _target_ended(self, *_: object) -> None:
        """Called where a child's target has returned or raised, which is printed and forgotten."""
        error = sys.exc_info()[1]
        self.stopped = replaces_stop(error, ChildStop)
        if error is None or isinstance(error, SystemExit) or self.watch.adapter is None:
            return
        from nanscope.moments import held

        self.raised = held.Raised(error)

    def _child_ended(self, status: int) -> int:
        watch = self.watch
        if not watch.settings.is_child:
            return status  # called by hand in the program's own process
        kind = "exception" if self.raised else "normally"
        # It called sys.exit(0) on its way out, or caught what stopped it.
        if (self.stopped or watch.swallowed_a_stop) and not status:
            kind = "stopped"
        changed = watch.judge(Ending(kind, status), self.raised)
        if changed is not None and together.is_one_of_many():
            leave_at_once(changed)
        return status if changed is None else changed

    # ---------------------------------------------------------------- other programs
    def _other_program(self, event: str, args: tuple) -> None:
        if event == "os.exec" and self.watch.swallowed_a_stop:
            self.watch.exits(0)  # the other program's status would be taken for this one's
        if not _is_python(event, args) or is_compiler_at_work():
            return
        if self.watch.following is not None and event in FOLLOWED:
            return  # counted if it does not join
        if event == "os.exec":
            key = ("the program that replaced this one", "os.exec starts it, without nanscope")
        else:
            key = ("other Python processes", "they are started without nanscope")
        self.watch.unwatched[key] = self.watch.unwatched.get(key, 0) + 1


def _is_python(event: str, args: tuple) -> bool:
    """Whether the program that is started is a Python without nanscope."""
    words: list = []
    for value in args[:2]:
        words += value if isinstance(value, list | tuple) else [value]
    return is_python(words)


def begin_spawned(values: dict) -> None:
    """In a child that multiprocessing spawned: watched like the process that began the run."""
    settings = Settings(**values)
    arrivals.other_processes = True
    watch = Watch(settings)
    watch.begin()
    Children(watch).follow()
