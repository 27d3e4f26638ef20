"""`watch`: a stretch of a program under the watch, as `nanscope run` watches a whole one.

Entering puts the wrappers and hooks in, leaving judges what is known, as the end of a program
would, and takes every hook out again. The wrappers in front of torch's kernels stay where they
are, switched off (Note [Installed once, never removed] in install.cc).
"""

from __future__ import annotations

import gc
import inspect
import os
import sys
import weakref
from functools import wraps
from typing import Any, Literal, TypeVar, overload

from nanscope.errors import NonFiniteError, Stop, kind_of
from nanscope.findings import Finding, Report
from nanscope.run.conclusion import Conclusion
from nanscope.run.ending import Ending, say
from nanscope.run.observer import Observer
from nanscope.run.stopping import finding_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    import torch

    from nanscope.moments.attach import Hooks

F = TypeVar("F", bound="Callable[..., Any]")
NESTED = (
    "watch() is already on, entered at {}: one block at a time, for torch's kernels are watched in "
    "all threads at once."
)
LATER = (
    "watch() cannot decorate {}: calling a generator or coroutine runs nothing yet; put "
    "`with nanscope.watch():` around the code that uses it."
)
RUN = "this process is watched by `nanscope run` already: leave watch() out, or start it as usual."

# The one block that is on, and where it was entered. Claimed by one call, without a lock: a fork by
# another thread would copy that held.
_active: dict[str, tuple[WatchBlock, str]] = {}
BLOCK = "block"
_fork_hooks = False


class ExactBlock(Observer):
    def connect(self, torch: ModuleType) -> None:
        """All hooks of this mode are in."""

    def begin(self) -> None:
        self.adapter.install()
        self.adapter.watch(True)


class WatchBlock:
    """One watched stretch. `finding` is the first error, `findings` all errors, warnings and notes.

    `verdict` is "error", "clean" or "unknown" once the block has ended, `report` the text of it.
    """

    error_status = 1
    most_steps = 0  # then the block is over; 0: it goes on to its end

    def __init__(
        self,
        model: torch.nn.Module | None = None,
        mode: Literal["exact", "sentinel"] = "exact",
        on_find: Literal["raise", "report"] | Callable[[Finding], object] = "raise",
        snapshot_every: float | None = None,
    ) -> None:
        if mode not in ("exact", "sentinel"):
            raise ValueError(f'mode is "exact" or "sentinel", not {mode!r}.')
        if snapshot_every is not None and not (mode == "sentinel" and snapshot_every > 0):
            raise ValueError('snapshot_every is a number of seconds, with mode="sentinel".')
        if not callable(on_find) and on_find not in ("raise", "report"):
            raise ValueError(f'on_find is "raise", "report" or a function, not {on_find!r}.')
        if model is not None and not hasattr(model, "named_parameters"):
            raise TypeError(f"model is a torch.nn.Module, not {kind_of(model)}.")
        self.model = model
        self.mode = mode
        self.on_find = on_find
        self.snapshot_every = snapshot_every
        self.findings: list[Finding] = []
        self.verdict: str | None = None
        self.report = ""
        self._adapter: ModuleType | None = None
        self.hooks: Hooks | None = None
        self._observer = Observer(self, None)  # of nothing, outside the block
        self._reported: set[int] = set()  # numbers of errors that were raised or handed over
        self._old: dict[int, tuple[weakref.ref, int]] = {}

    @property
    def finding(self) -> Finding | None:
        return next((f for f in self.findings if f.level == "error"), None)

    # ------------------------------------------------------------------------ as a decorator
    def __call__(self, function: F) -> F:
        if _runs_later(function):
            raise TypeError(LATER.format(getattr(function, "__name__", "the function")))

        @wraps(function)
        def watched(*args, **kwargs):
            with WatchBlock(self.model, self.mode, self.on_find, self.snapshot_every):
                return function(*args, **kwargs)

        return watched  # type: ignore[return-value]

    # ------------------------------------------------------------------------------ the block
    def __enter__(self) -> WatchBlock:
        import torch

        from nanscope.moments import attach

        adapter = attach.load(torch)
        if isinstance(adapter, str):
            raise RuntimeError(adapter)
        self._claim()
        try:
            self.findings, self.verdict, self.report = [], None, ""
            self._reported.clear()
            self._adapter = adapter
            self.hooks = attach.connect(torch, adapter, None, self._exception_for, self.most_steps)
            adapter.begin_anew()
            self.begin_session(os.getpid())
            self._observer = self._new_observer()
            self._observer.connect(torch)
            self._tell_of_what_is_there(torch)
            _watch_forks(adapter)
            self._observer.begin()
        except BaseException:
            self._leave()
            raise
        return self

    def _new_observer(self) -> Observer:
        if self.mode == "exact":
            return ExactBlock(self, self._adapter)
        from nanscope.sentinel.block import BlockSentinel

        return BlockSentinel(self, self._adapter)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._adapter.watch(False)
        try:
            conclusion = self._conclude(error)
        finally:
            self._leave()
        self._report(conclusion, error)

    def _claim(self) -> None:
        run = sys.modules.get("nanscope.run.process")
        if run is not None and run.begun:
            raise RuntimeError(RUN)
        frame = sys._getframe(2)
        claim = self, f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
        holder = _active.setdefault(BLOCK, claim)
        if holder is not claim:
            raise RuntimeError(NESTED.format(holder[1]))

    def _leave(self) -> None:
        if self.hooks is not None:
            self.hooks.remove()
            self._adapter.disconnect()
        self.hooks = None
        self._observer.end()
        self._observer = Observer(self, None)
        self._old = {}
        _active.clear()

    def begin_session(self, pid: int, replays: bool = False) -> None:
        """In a replay it is that of the run, whose `pid` it has, and ends at the first error."""
        options = self._adapter.SessionOptions(
            on_error="go_on" if self.on_find == "report" and not replays else "raise",
            argv=self.command(),
            python=sys.version.split()[0],
            torch=sys.modules["torch"].__version__,
            host=os.uname().nodename,
            pid=pid,
            mode=self.mode,
            **({} if replays else self.session_options()),
        )
        self._adapter.begin(options)
        self._adapter.keep_to(*self.chosen())

    def command(self) -> list[str]:
        """The command line of the program that is watched; empty if it has none."""
        return list(sys.argv)

    def session_options(self) -> dict[str, object]:
        """What a block of another kind adds to the options of its session."""
        return {}

    def chosen(self) -> tuple[str, str]:
        """The layer and the file of which is told; empty: all."""
        return "", ""

    def _tell_of_what_is_there(self, torch: ModuleType) -> None:
        """Modules and optimizers that were made before anybody watched."""
        Module, Optimizer = torch.nn.Module, torch.optim.Optimizer
        alive = gc.get_objects()
        roots = [self.model] if self.model is not None else alive
        for value in roots:
            if issubclass(type(value), Module):
                for parameter in value.parameters():
                    self._adapter.register_parameter(None, None, parameter)
                for buffer in value.buffers():
                    self._adapter.register_buffer(None, None, buffer)
        for value in alive:
            if issubclass(type(value), Optimizer) and getattr(value, "param_groups", None):
                self.hooks.optimizers.tell_of(value)
        self._adapter.remember_old_gradients()
        self._old = {
            id(value): (weakref.ref(value), value._version)
            for value in alive
            if issubclass(type(value), torch.Tensor) and not value.is_inference()
        }

    def held(self) -> list[tuple[str, object]]:
        """What the program holds at the end, but for what was there before and is untouched."""
        from nanscope.moments import held

        def is_old(value) -> bool:
            reference, version = self._old.get(id(value), (None, 0))
            return reference is not None and reference() is value and value._version == version

        return [(name, value) for name, value in held.tensors_of_the_program() if not is_old(value)]

    # ------------------------------------------------------------------------------- findings
    def _exception_for(self, number: int | None) -> BaseException | None:
        """Asked on the thread that did harm; None lets the program go on."""
        if number is None or self._adapter is None:
            return None
        self._observer.error_in_replay()
        finding = finding_of(self._adapter, number)
        text = self._adapter.error_number(number).text(in_block=True)
        return self.exception_for_finding(number, finding, text)

    def exception_for_finding(
        self, number: int, finding: Finding, text: str
    ) -> BaseException | None:
        if self.on_find == "raise":
            self._reported.add(number)
            return NonFiniteError(text, finding)
        if callable(self.on_find) and number not in self._reported:
            self._reported.add(number)
            try:
                self.on_find(finding)
            except BaseException as error:
                return error
        return None

    def before_finish(self) -> None:
        """All that is known at the end of the block is judged."""

    def _conclude(self, error: BaseException | None) -> Conclusion:
        from nanscope.moments import held, left_loops

        left_loops.stop()
        enough = isinstance(error, Stop)  # of its steps
        ours = isinstance(error, NonFiniteError) and self._observer.error_found()
        # Reading a frame's locals keeps them alive with it.
        raised = held.Raised(error) if error is not None and not (ours or enough) else None
        kind = "stopped" if ours or enough else "exception" if error is not None else "normally"
        ending = Ending(kind, int(error is not None and not enough), error)
        return self._observer.conclude(ending, raised, ours)

    def finish(self, ending: Ending) -> Conclusion:
        from nanscope.compiled import attach as compiled

        gaps = [*self._observer.gaps(), *compiled.gaps()]
        return Conclusion.of_session(self._adapter, ending, gaps)

    def _report(self, conclusion: Conclusion, error: BaseException | None) -> None:
        self.take_findings(conclusion)
        for sentence in conclusion.complaints:
            say(sentence)
        if self.on_find == "report":
            say(self.report.rstrip("\n"))
            return
        errors = [f for f in self.findings if f.level == "error"]
        late = [(i, finding) for i, finding in enumerate(errors) if i not in self._reported]
        if callable(self.on_find):
            for _, finding in late:
                self.on_find(finding)
        elif late and error is None:
            number, finding = late[0]
            raise NonFiniteError(self._text_of(number), finding)
        elif late:
            error.add_note(self._text_of(late[0][0]))

    def take_findings(self, conclusion: Conclusion) -> None:
        report = Report.of(conclusion.capture)
        self.findings, self.verdict = report.findings, report.verdict
        self.report = conclusion.capture.text(in_block=True)

    def _text_of(self, number: int) -> str:
        """Tells one finding; one that a replay made stands in the report alone."""
        record = self._adapter.error_number(number)
        return self.report if record is None else record.text(in_block=True)


@overload
def watch(
    model: torch.nn.Module | None = None,
    mode: Literal["exact", "sentinel"] = "exact",
    on_find: Literal["raise", "report"] | Callable[[Finding], object] = "raise",
    snapshot_every: float | None = None,
) -> WatchBlock: ...
@overload
def watch(model: F) -> F: ...
def watch(
    model: Any = None,
    mode: Literal["exact", "sentinel"] = "exact",
    on_find: Literal["raise", "report"] | Callable[[Finding], object] = "raise",
    snapshot_every: float | None = None,
) -> Any:
    """Watches a block or, as a decorator, each call of a function.

    Names the first operation that made a NaN or Inf and did harm. "raise" raises `NonFiniteError`
    where the harm happens, or at the end of the block if it shows only there; "report" goes on and
    prints the diagnosis at the end; a callable is given each finding. With `model` the parameters
    and buffers of that model count, else those of every live module. "sentinel" looks once a step
    and runs a snapshot again, taken every `snapshot_every` seconds, to find the operation.
    """
    if inspect.isroutine(model):  # @nanscope.watch, without parentheses
        return WatchBlock(None, mode, on_find, snapshot_every)(model)
    return WatchBlock(model, mode, on_find, snapshot_every)


def _runs_later(function: object) -> bool:
    return (
        inspect.isgeneratorfunction(function)
        or inspect.iscoroutinefunction(function)
        or inspect.isasyncgenfunction(function)
    )


def _watch_forks(adapter: ModuleType) -> None:
    """A child that is forked inside a block is not watched; none of our locks may be held there."""
    global _fork_hooks
    if _fork_hooks:
        return
    _fork_hooks = True
    os.register_at_fork(
        before=lambda: adapter.fork_begins() if _active else None,
        after_in_parent=lambda: adapter.fork_ended() if _active else None,
        after_in_child=lambda: _forked(adapter),
    )


def _forked(adapter: ModuleType) -> None:
    if not _active:
        return
    adapter.fork_ended()
    block, _ = _active[BLOCK]
    if block._observer.forked():
        adapter.watch(False)
