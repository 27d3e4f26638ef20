"""Notebooks: `%load_ext nanscope`, then `%%nanscope` above a cell or `%nanscope` before a line.

    %%nanscope                       the cell is watched; its end is the end of the program
    %%nanscope --keep-going --html nan.html
    %nanscope --steps 100 train(model)

The options are those of `nanscope run`, but for those that NOT_HERE names. The first error stops
the cell with `NonFiniteError`, whose traceback shows the cell's own lines; the diagnosis stands
below it as text, with the page folded.
What earlier cells made (models, optimizers, data) is known to the watch.
"""

from __future__ import annotations

import ast
import html
import os
import shlex
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.display import display

from nanscope import _core
from nanscope.api.watch import WatchBlock
from nanscope.errors import Stop
from nanscope.findings import Report
from nanscope.run.ending import write_text
from nanscope.run.notices import Notices
from nanscope.run.settings import Settings
from nanscope.run.stopping import STEPS_DONE
from nanscope.telling.allowances import allowances
from nanscope.telling.stack import display_path, name_givers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from IPython.core.interactiveshell import InteractiveShell

    from nanscope.findings import Finding
    from nanscope.run.conclusion import Conclusion
    from nanscope.run.observer import Observer

PRE = (
    "font-family: monospace; white-space: pre; overflow-x: auto; line-height: 1.35; "
    "padding: 0.6em; border-left: 3px solid "
)
COLOURS = {"error": "#b5453a", "clean": "#3d8a55", "unknown": "#b08018"}  # on light and on dark
FRAME = "width: 100%; height: 70vh; border: 1px solid #8884"
NOT_HERE = {
    "pdb": "--pdb does not fit a cell: run the cell and use %debug, which opens at the error.",
    "bad_batch": "--bad-batch does not fit a cell: a replay starts the program from its beginning, "
    "and a cell has none; keep the step of a script, by `nanscope run --bad-batch DIR train.py`.",
    "nproc": "--nproc does not fit a cell: the kernel is one process; start the ranks of a script, "
    "by `nanscope run --nproc N train.py`.",
    "no_follow": "--no-follow does not fit a cell: other Pythons that it starts are not watched.",
}
AWAITS = (
    "a cell that awaits something by itself does not fit %%nanscope, for the kernel's own loop "
    "runs it: put the training into a function, and call that."
)
NO_CODE = "%nanscope wants a statement: %nanscope train(model); for a whole cell write %%nanscope."


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Called by `%load_ext nanscope`."""
    shell.register_magics(NanscopeMagics)

    def name_of_cell(filename: str) -> str | None:
        known = shell.compile.format_code_name(filename)
        return known[1] if known is not None else None

    name_givers.append(name_of_cell)


@magics_class
class NanscopeMagics(Magics):
    @line_cell_magic
    def nanscope(self, line: str, cell: str | None = None) -> None:
        """Watches a cell, or the statement behind `%nanscope`, as `nanscope run` a program."""
        if cell is None:
            request, code = request_of_line(line)
        else:
            # Below a line for that of the magic, so that lines are those of the cell.
            request, code = parsed(shlex.split(line)), f"# %%nanscope {line}".rstrip() + f"\n{cell}"
        if self.shell.should_run_async(code, transformed_cell=self.shell.transform_cell(code)):
            raise UsageError(AWAITS)
        block = CellBlock(request, notebook_of(self.shell))
        with block, numbered_as_the_cell(self.shell):
            # The kernel's frames, and that of the magic, are no part of how the cell was called.
            run_cell = partial(self.shell.run_cell, code, store_history=False)
            result = _core.call_hidden(run_cell)
            block.error = result.error_before_exec or result.error_in_exec
        if result.error_before_exec is None:  # else there was nothing to watch
            block.show()
        if block.error is not None and not isinstance(block.error, Stop):
            words = [type(block.error).__name__, *str(block.error).splitlines()[:1]]
            raise AlreadyShown(": ".join(words))


def notebook_of(shell: InteractiveShell) -> str:
    """The file, where the front end tells: VS Code in a variable, Jupyter in the environment."""
    path = shell.user_ns.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME")
    return display_path(path) if isinstance(path, str) and path.endswith(".ipynb") else ""


@contextmanager
def numbered_as_the_cell(shell: InteractiveShell) -> Iterator[None]:
    """What runs inside has the number of the cell that it stands in: its lines are named by it, and
    its result is that cell's, not one of a cell before it.
    """
    counted = shell.execution_count
    number = len(shell.history_manager.input_hist_raw) - 1
    # Newer IPythons count a cell before it runs: lines have the number then, results the one below.
    ahead = counted - shell.displayhook.prompt_count
    running = WhenCompiled(lambda: setattr(shell, "execution_count", number + ahead))
    shell.execution_count = number
    shell.ast_transformers.append(running)
    try:
        yield
    finally:
        shell.ast_transformers.remove(running)
        shell.execution_count = counted


class WhenCompiled(ast.NodeTransformer):
    """Calls when a cell has its name and does not run yet."""

    def __init__(self, call: Callable[[], None]) -> None:
        self.call = call

    def visit(self, node: ast.AST) -> ast.AST:
        self.call()
        return node


class AlreadyShown(Exception):
    """The cell failed, and its traceback stands above: the notebook stops here, too. Front ends
    show something in any case, so that it is a line that says why.
    """

    def _render_traceback_(self) -> list[str]:
        return [f"{self}; the traceback stands above"]


class StepsDone(Stop):
    """The cell ends here, as it was asked to."""

    def _render_traceback_(self) -> list[str]:
        return [f"nanscope ended the cell: {self}"]


class CellBlock(WatchBlock):
    """A watched block with the options of `nanscope run`."""

    def __init__(self, request: Any, notebook: str) -> None:
        self.settings = settings = Settings.of(request)
        self.notebook = notebook
        self.most_steps = settings.steps
        self.notices: Notices | None = None
        self.options = ExitStack()
        super().__init__(
            mode=settings.mode,
            on_find="report" if settings.on_error == "go_on" else "raise",
            snapshot_every=settings.snapshot_every or None,
        )
        self.error: BaseException | None = None  # what the cell raised
        self.conclusion: Conclusion | None = None

    @property
    def adapter(self) -> ModuleType | None:
        return self._adapter

    @property
    def observer(self) -> Observer:
        return self._observer

    def __enter__(self) -> WatchBlock:
        """With what `nanscope run` does for a whole process done for this cell."""
        settings, options = self.settings, self.options
        with options:  # taken back at once where the block cannot be entered
            allowances.give(settings.allow)
            options.callback(allowances.take_back)
            if settings.eager:
                import torch

                options.enter_context(torch.compiler.set_stance("force_eager"))
            if settings.notify:
                self.notices = Notices(self)
                self.notices.begin()
                options.callback(self.notices.end)
            super().__enter__()
            self.options = options.pop_all()
        return self

    def command(self) -> list[str]:
        """What `nanscope fix` would be given; not that of the kernel."""
        return [self.notebook] if self.notebook else []

    def session_options(self) -> dict[str, object]:
        settings = self.settings
        return {
            "capture": settings.output,
            "keep_capture": bool(settings.output),
            "overwrite": settings.force,
            "strict": settings.strict,
        }

    def chosen(self) -> tuple[str, str]:
        return self.settings.layer, display_path(self.settings.file) if self.settings.file else ""

    def _exception_for(self, number: int | None) -> BaseException | None:
        if number is None and self.most_steps:
            return StepsDone(STEPS_DONE)
        return super()._exception_for(number)

    def exception_for_finding(
        self, number: int, finding: Finding, text: str
    ) -> BaseException | None:
        """In one line: the report stands below."""
        return super().exception_for_finding(number, finding, finding.headline)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        error = error or self.error
        with self.options:
            super().__exit__(type(error) if error else None, error, trace)

    def _report(self, conclusion: Conclusion, error: BaseException | None) -> None:
        """Shown below the cell instead."""
        self.conclusion = conclusion
        self.take_findings(conclusion)

    def show(self) -> None:
        settings, capture = self.settings, self.conclusion.capture
        if settings.json == "-":
            print(capture.json())
        elif settings.json:
            write_text(settings.json, capture.json())
        page = page_of(capture, settings.output)
        if settings.html and page is not None:
            write_text(settings.html, page)
        text = capture.text(settings.verbose, False, 100, in_cell=True)
        lines = [*self.conclusion.complaints, text.rstrip("\n")]
        if capture.error and self.notices is not None:
            self.notices.tell_all(capture, [])
        if settings.quiet:
            return
        text = "\n".join(lines)
        verdict = Report.of(capture).verdict
        display({"text/plain": text, "text/html": as_html(text, page, verdict)}, raw=True)


def as_html(text: str, page: str | None, verdict: str) -> str:
    """Without script, so that every front end shows it; the page keeps its own in a frame."""
    shown = f'<pre style="{PRE}{COLOURS[verdict]}">{html.escape(text)}</pre>'
    if page is not None:
        frame = f'<iframe style="{FRAME}" sandbox="allow-scripts" srcdoc="{html.escape(page)}">'
        shown += f"<details><summary>The page of this report</summary>{frame}</iframe></details>"
    return shown


def page_of(capture: _core.Capture, path: str) -> str | None:
    try:
        return capture.html(display_path(path) if path else "")
    except ValueError:  # nanscope was built without it
        return None


def request_of_line(line: str) -> tuple[Any, str]:
    """Options as far as they go, then the statement."""
    rest, words, problem = line.strip(), [], UsageError(NO_CODE)
    while rest:
        if not rest.startswith("-"):
            try:
                return parsed(words), rest
            except UsageError as error:  # a word that belongs to the option before it, perhaps
                problem = error
        word, _, rest = rest.partition(" ")
        rest = rest.lstrip()
        words.append(word)
    raise problem


def parsed(words: list[str]) -> Any:
    outcome = _core.command_line(["nanscope", "run", *words, "-c", "cell"], _core.Terminal())
    if outcome.run is None:
        raise UsageError((outcome.err or outcome.out).decode().strip())
    for option, sentence in NOT_HERE.items():
        if getattr(outcome.run, option):
            raise UsageError(sentence)
    if outcome.run.output and os.path.exists(outcome.run.output) and not outcome.run.force:
        raise UsageError(f"{outcome.run.output} exists; use -f to replace it.")
    return outcome.run
