"""Runs the program in children, and says what they may cost."""

from __future__ import annotations

import os
import select
import shutil
import stat
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field

from nanscope.findings import Finding, Report
from nanscope.fix.run import child, copies, messages, overlay, sandbox
from nanscope.fix.run.environment import SET_BY_TORCH
from nanscope.fix.run.messages import Answer, Plan
from nanscope.fix.run.prepared import Prepared
from nanscope.run.progress import wait_for

# Trackers of experiments are switched off in repeats: they would report runs that are none.
REPEAT = {
    "NANSCOPE_VERIFY": "1",
    "WANDB_MODE": "disabled",
    "WANDB_SILENT": "true",
    "MLFLOW_TRACKING_URI": "file:///dev/null",
    "COMET_MODE": "disabled",
    "COMET_AUTO_LOG_DISABLE": "1",
    "NEPTUNE_MODE": "debug",
    "CLEARML_OFFLINE_MODE": "1",
    "DISABLE_MLFLOW_INTEGRATION": "TRUE",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}
LEAST_SECONDS = 600.0  # a repeat may take so long, however quick the first run was
TIMES_AS_LONG = 20.0


class NotStarted(Exception):
    """The program could not be run at all; why."""


@dataclass
class Run:
    """How a child ended, and its answer."""

    answer: Answer | None
    status: int
    seconds: float
    last_words: str = ""

    @property
    def report(self) -> Report | None:
        return self.answer.report if self.answer else None

    def findings(self, level: str) -> list[Finding]:
        return self.report.of_level(level) if self.report else []

    @property
    def error(self) -> Finding | None:
        return next(iter(self.findings("error")), None)


@dataclass
class Runner:
    """Starts the program again and again, as it was started first."""

    kind: str
    target: str
    args: list[str]
    exchange: str  # a folder of our own
    protected: bool  # what a run writes is thrown away
    copied: bool  # if not protected: runs happen in a copy of the working folder
    steps_after: int
    quiet: bool = False
    begun: float = field(default_factory=time.monotonic)
    always: dict[str, bytes] = field(default_factory=dict)  # texts that are no patch: a notebook's
    count: int = 0
    first: Run | None = None
    _input: _Input | None = None
    _prepared: Prepared | None = None

    def run(
        self,
        texts: dict[str, bytes],
        *,
        plain: dict[str, bytes] | None = None,
        first: bool = False,
        last_step: int | None = None,
        stop_at_error: bool = False,
        widens: bool = False,
        second_order: bool = False,
    ) -> Run:
        """Runs the program once, with other texts than those on disk.

        `texts` are what the process itself sees; `plain` are the same without our calls, for
        processes that it spawns. The first run speaks to the terminal.
        """
        self.count += 1
        texts = self.always | texts
        plain = texts if plain is None else self.always | plain
        folder = self._copy() if self.copied and not self.protected else None
        if folder is not None:
            texts = self._put_into(folder, texts, plain)
        plan = Plan(
            kind=self.kind,
            target=self._target_in(folder),
            args=self.args,
            argv=[*(["-m"] if self.kind == "module" else []), self.target, *self.args],
            launcher=sys.orig_argv[0],
            exchange=self.exchange,
            in_sandbox=self.protected,
            measured=texts,
            plain={} if folder is not None else plain,
            capture=self._own(f"run-{self.count}.nsc"),
            answer=self._own(f"answer-{self.count}.json"),
            steps_after=self.steps_after,
            last_step=last_step,
            stop_at_error=stop_at_error,
            widens=widens,
            second_order=second_order,
        )
        begun = time.monotonic()
        words = self._own(f"words-{self.count}")
        status = self._execute(plan, folder, words, first)
        run = Run(_answer(plan.answer), status, time.monotonic() - begun, _tail(words))
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        if status == child.NOT_STARTED and run.answer is None:
            raise NotStarted(run.last_words or "the program could not be started")
        if first:
            self.first = run
        return run

    def _execute(self, plan: Plan, folder: str | None, words: str, first: bool) -> int:
        """Runs a child to its end. Gives its status; -9 if it took too long."""
        plan_path = self._own(f"plan-{self.count}.json")
        messages.send(plan_path, plan)
        if self._input is None:
            self._input = _Input(self.exchange)
        environment = {**os.environ, **({} if first else REPEAT)}
        environment.setdefault("PYTHONHASHSEED", "0")  # sets have one order in all runs
        if first and self._input.is_empty:
            ours = {SET_BY_TORCH: self._own("inductor")}  # the import makes that folder
            self._prepared = Prepared({**ours, **environment, **REPEAT})
        if self._prepared is not None and self._is_for_prepared(plan):
            status = self._prepared.run(plan_path, folder, words, self._longest())
            if status is not None:
                return status
        with open(words, "wb") as quiet:
            process = subprocess.Popen(
                [sys.executable, child.__file__, plan_path],
                env=environment,
                cwd=folder,
                stdin=self._input.begin(first),
                stdout=None if first else subprocess.DEVNULL,
                stderr=None if first else quiet,
            )
            try:
                with self._input.following(process):
                    if first:  # its output is a sign of life
                        return process.wait()
                    what = f"run {self.count}"
                    return wait_for(process.wait, what, self._longest(), not self.quiet)
            except subprocess.TimeoutExpired:
                _end(process)
                return -9
            except BaseException:
                _end(process)
                raise

    def _is_for_prepared(self, plan: Plan) -> bool:
        """A repeat that does not see another text of a package, which may be imported by now."""
        if self.first is None or self.first.answer is None:
            return False
        in_package = any("site-packages" in path for path in plan.measured)
        return self.first.answer.may_be_prepared and not in_package

    def close(self) -> None:
        if self._prepared is not None:
            self._prepared.close()

    @staticmethod
    def _put_into(folder: str, texts: dict[str, bytes], plain: dict[str, bytes]):
        """Writes the plain texts into the copy. Gives the texts by their paths there, too."""
        inside = {path: copies.moved(path, os.getcwd(), folder) for path in texts | plain}
        overlay.write_over({inside[p]: data for p, data in plain.items() if inside[p] != p})
        return texts | {inside[p]: data for p, data in texts.items()}

    def _longest(self) -> float:
        first = self.first.seconds if self.first else 0.0
        return max(LEAST_SECONDS, TIMES_AS_LONG * first)

    def _copy(self) -> str:
        folder = self._own(f"copy-{self.count}")
        copies.copy(os.getcwd(), folder, self.exchange)
        return folder

    @property
    def reaches_spawned(self) -> bool:
        """Whether processes that the program spawns see the patch, too."""
        return self.protected or self.copied

    def _own(self, name: str) -> str:
        return os.path.join(self.exchange, name)

    def _target_in(self, folder: str | None) -> str:
        if folder is not None and os.path.isabs(self.target):
            return copies.moved(self.target, os.getcwd(), folder)
        return self.target


class _Input:
    """Keeps the standard input while the first run reads it, and gives it again to each repeat."""

    def __init__(self, exchange: str) -> None:
        self.path = os.path.join(exchange, "stdin")
        self.kept = open(self.path, "wb")
        try:
            mode = os.fstat(0).st_mode
        except OSError:
            mode = 0
        self.is_pipe = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
        self.place = os.lseek(0, 0, os.SEEK_CUR) if stat.S_ISREG(mode) else None
        self.seen_end = False

    @property
    def is_empty(self) -> bool:
        """A repeat is given nothing to read."""
        return self.place is None and not self.is_pipe

    def begin(self, first: bool):
        if self.place is not None:  # a file is read again from where it stood
            again = open("/proc/self/fd/0", "rb", buffering=0)
            again.seek(self.place)
            return again
        if self.is_pipe:
            return subprocess.PIPE
        return None if first else subprocess.DEVNULL

    def following(self, process: subprocess.Popen) -> _Feed:
        return _Feed(self, process)


class _Feed:
    """Feeds a child what is kept, then what still comes, until the child has ended."""

    def __init__(self, kept: _Input, process: subprocess.Popen) -> None:
        self.input = kept
        self.process = process
        self.stop, self.wake = os.pipe()
        self.thread: threading.Thread | None = None

    def __enter__(self) -> None:
        if self.process.stdin is not None:
            self.thread = threading.Thread(target=self._feed, daemon=True)
            self.thread.start()

    def __exit__(self, *_: object) -> None:
        os.write(self.wake, b".")
        if self.thread is not None:
            self.thread.join()
            try:
                self.process.stdin.close()
            except OSError:
                pass  # the child had read enough
        os.close(self.stop)
        os.close(self.wake)

    def _feed(self) -> None:
        kept, to = self.input, self.process.stdin
        try:
            with open(kept.path, "rb") as before:
                while data := before.read(1 << 16):
                    to.write(data)
            to.flush()
            while not kept.seen_end:
                ready, _, _ = select.select([0, self.stop], [], [])
                if 0 not in ready:
                    return
                data = os.read(0, 1 << 16)
                kept.seen_end = not data
                kept.kept.write(data)
                kept.kept.flush()
                to.write(data)
                to.flush()
            to.close()
        except (BrokenPipeError, ValueError):
            pass  # the child reads no more


def _end(process: subprocess.Popen) -> None:
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _answer(path: str) -> Answer | None:
    """Reads what the child has left; None if it ended before it could write."""
    try:
        return messages.receive(Answer, path)
    except (OSError, ValueError):
        return None


def _tail(path: str) -> str:
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - 2000))
            lines = file.read().decode("utf-8", "replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1][:300] if lines else ""


def protection(exchange: str) -> str | None:
    """Why what a run writes cannot be thrown away here, or None."""
    return sandbox.possible(exchange)
