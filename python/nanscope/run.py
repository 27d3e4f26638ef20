"""`nanscope run`: watches a program, judges it when it ends, prints the diagnosis."""

from __future__ import annotations

import os
import socket
import sys

from nanscope import program
from nanscope.attach import Stop, attach, when_torch_is_imported
from nanscope.ending import say
from nanscope.stack import display_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from nanscope.program import Ending

ERROR_FOUND = 3
NO_TORCH = "nanscope: the program never imported torch; nothing was watched."
RAN_ON = (
    "nanscope stopped the program at the error, and it ran on: it caught the exception, "
    "or the error was in another thread."
)


def carry_out(request) -> int:
    """Runs the program of the request; ends the process as it would have ended, or with 3."""
    run = Run(request)
    when_torch_is_imported(run.torch_imported)
    ending = run.execute()
    status = run.judge(ending) if ending.started else None
    program.leave(ending, status)


class Run:
    """One watched program."""

    def __init__(self, request) -> None:
        self.request = request
        self.adapter: ModuleType | None = None
        self.problem: str | None = None
        self.torch_version = ""

    # ---------------------------------------------------------------- before and during
    def execute(self) -> Ending:
        from nanscope.source import keeper

        request = self.request
        target, args = request.target, list(request.args)
        if request.kind == "module":
            return program.run_module(target, args, stop_type=Stop)
        runner = program.run_code if request.kind == "code" else program.run_script
        return runner(target, args, stop_type=Stop, remember=keeper.remember)

    def torch_imported(self, torch: ModuleType) -> None:
        """Never lets a fault of ours reach the program."""
        self.torch_version = torch.__version__
        try:
            answer = attach(torch, self._main_file())
            if isinstance(answer, str):
                self.problem = answer
                return
            answer.begin(
                self._capture_path(),
                self.request.force,
                bool(self.request.output),
                self.request.keep_going,
                self._argv(),
                sys.version.split()[0],
                torch.__version__,
                socket.gethostname(),
                os.getpid(),
            )
            answer.keep_to(self.request.layer, self._shown_file())
            self.adapter = answer
            if self.request.steps:
                self._stop_after(torch, self.request.steps)
        except Exception as error:
            self.problem = f"nanscope could not attach itself to torch: {error!r}"

    def _shown_file(self) -> str:
        """The file of --file as findings show it."""
        return display_path(os.path.abspath(self.request.file)) if self.request.file else ""

    def _stop_after(self, torch: ModuleType, steps: int) -> None:
        adapter = self.adapter

        def after_step(optimizer, args, kwargs):
            if adapter.steps() >= steps:
                raise Stop

        torch.optim.optimizer.register_optimizer_step_post_hook(after_step)

    def _main_file(self) -> str | None:
        return self.request.target if self.request.kind == "script" else None

    def _argv(self) -> list[str]:
        flag = {"module": ["-m"], "code": ["-c"]}.get(self.request.kind, [])
        return [*flag, self.request.target, *self.request.args]

    def _capture_path(self) -> str:
        if self.request.output:
            return os.path.abspath(self.request.output)
        name = {"code": "code"}.get(self.request.kind, self.request.target)
        stem = os.path.splitext(os.path.basename(name.rstrip("/")))[0] or "program"
        return os.path.abspath(f"nanscope-{stem}.{os.getpid()}.nsc")

    # ---------------------------------------------------------------- afterwards
    def judge(self, ending: Ending) -> int | None:
        """What is known is judged and told; the exit status, or None for the program's own."""
        if self.adapter is None:
            self._say(self.problem or NO_TORCH)
            self._write_json(self._empty_report(ending))
            return None
        adapter = self.adapter
        adapter.watch(False)
        if ending.kind != "stopped":
            error = ending.exception
            adapter.program_ended(
                error is not None,
                ending.status,
                f"{type(error).__name__}: {error}" if error is not None else "",
                _locals_of(error),
                _held(),
            )
        found = adapter.error_found()
        told = adapter.finish(
            ERROR_FOUND if found else ending.status,
            ending.kind,
            _not_watched(),
            self.request.verbose,
            self.request.color,
        )
        for sentence in told["complaints"]:
            self._say(sentence)
        if adapter.stops() and ending.kind != "stopped":
            self._say(RAN_ON)
        if not self.request.quiet:
            self._say(told["text"])
            if told["capture"]:
                self._say(f"Capture: {display_path(told['capture'])}")
        self._write_json(told["json"])
        return ERROR_FOUND if found else None

    def _write_json(self, text: str) -> None:
        if self.request.json == "-":
            sys.stdout.write(text)
            sys.stdout.flush()
        elif self.request.json:
            try:
                with open(self.request.json, "w", encoding="utf-8") as file:
                    file.write(text)
            except OSError as error:
                self._say(f"{self.request.json} could not be written: {error.strerror}.")

    def _empty_report(self, ending: Ending) -> str:
        """The finding of a run in which nothing could be watched."""
        import json

        unseen = [{"what": "all of torch", "why": self.problem, "count": 1}] if self.problem else []
        report = {
            "schema": "nanscope/1",
            "verdict": "unknown" if unseen else "clean",
            "program": {
                "argv": self._argv(),
                "python": sys.version.split()[0],
                "torch": self.torch_version,
                "mode": "exact",
                "pid": os.getpid(),
                "host": socket.gethostname(),
                "exit_status": ending.status,
                "ended": ending.kind,
            },
            "findings": [],
            "coverage": {"ops_watched": 0, "bytes_scanned": 0, "steps": 0, "not_watched": unseen},
        }
        return json.dumps(report) + "\n"

    def _say(self, sentence: str) -> None:
        say(sentence.rstrip("\n"))


def _locals_of(error: BaseException | None) -> list:
    """What the last frames of an uncaught exception hold."""
    frames = []
    trace = error.__traceback__ if error is not None else None
    while trace is not None:
        frames.append(trace.tb_frame)
        trace = trace.tb_next
    return [value for frame in frames[-4:] for value in list(frame.f_locals.values())]


def _held() -> list[tuple[str, object]]:
    """Every tensor the program still holds: names of __main__ first, then all that is alive."""
    import gc

    torch = sys.modules["torch"]
    found: dict[int, tuple[str, object]] = {}

    def look(name: str, value: object, depth: int) -> None:
        if depth > 4 or id(value) in found:
            return
        if isinstance(value, torch.Tensor):
            found[id(value)] = (name, value)
        elif type(value) is dict:
            for key, item in list(value.items()):
                look(f"{name}[{key!r}]", item, depth + 1)
        elif type(value) in (list, tuple, set):
            for i, item in enumerate(list(value)[:10000]):
                look(f"{name}[{i}]", item, depth + 1)

    for name, value in list(vars(sys.modules["__main__"]).items()):
        if not name.startswith("__"):
            look(name, value, 0)
    for value in gc.get_objects():
        if issubclass(type(value), torch.Tensor):
            found.setdefault(id(value), ("", value))
    return list(found.values())


def _not_watched() -> list[tuple[str, str, int]]:
    """What ran where no kernel of ours could see it."""
    dynamo = sys.modules.get("torch._dynamo.utils")
    compiled = dynamo.counters["frames"]["ok"] if dynamo is not None else 0
    if not compiled:
        return []
    return [("compiled regions", "torch.compile fuses ops into kernels of its own", compiled)]
