"""`nanscope mcp`: run, show, explain and fix as tools of an MCP server over stdin and stdout.

Each tool starts `nanscope` as a process of its own, whose output comes back as the answer: nothing
that a program prints can reach the protocol. A program that takes too long is interrupted as by
Ctrl-C, so that what is known by then is judged and told.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from typing import IO, Any, Literal

from nanscope import _core
from nanscope.run.ending import say

NO_SDK = "nanscope mcp needs the MCP SDK, version 2: pip install 'nanscope[mcp]'"
NOT_STARTED = 125
INSTRUCTIONS = (
    "nanscope names the first operation that made a harmful NaN or Inf in a PyTorch program, and "
    "says why. Use run on the training script; explain for the page of the cause; fix to try a "
    "patch. Report the five parts as they are given: First Bad Operation, Root Cause, Input "
    "Statistics, Fix, Verification. A verdict of `unknown` is no all-clear."
)
OF_FIX = {
    0: "clean, or a patch was verified",
    3: "an error; its patch, if there is one, could not be verified",
    4: "an error, and no patch held",
}
KEPT = 4000  # characters of what a program printed
GRACE_S = 60  # to judge and tell, after an interruption


def carry_out() -> int:
    try:
        from mcp.server.mcpserver import MCPServer
    except ImportError:
        say(NO_SDK)
        return NOT_STARTED
    server = MCPServer(
        "nanscope", instructions=INSTRUCTIONS, version=_core.__version__, log_level="WARNING"
    )
    for tool in (run, show, explain, fix):
        server.tool(structured_output=tool in (run, fix))(tool)
    with suppress(KeyboardInterrupt):
        server.run("stdio")
    return 0


async def run(
    script: str,
    arguments: list[str] | None = None,
    module: bool = False,
    layer: str = "",
    file: str = "",
    mode: Literal["exact", "sentinel"] = "exact",
    steps: int = 0,
    folder: str = "",
    timeout_s: float = 600,
) -> dict[str, Any]:
    """Runs a PyTorch program under nanscope and gives the diagnosis.

    script: path of the program, or with module=true the name of a module (as python -m).
    layer, file: only findings of this module of the model, or of this source file.
    steps: stop after so many training steps; 0: none. folder: where to start it.
    timeout_s: then it is interrupted, and what is known is judged.
    """
    options = ["--mode", mode]
    for name, value in (("--layer", layer), ("--file", file), ("--steps", steps or "")):
        options += [name, str(value)] if value else []
    capture = unused_capture(folder or ".", script)
    options += ["-o", capture, "-q"]
    done = await ToolRun.of("run", options, program(script, arguments, module), folder, timeout_s)
    answer = done.answer()
    path = os.path.join(folder, capture)
    if answer["verdict"] == "clean" or not os.path.exists(path):
        with suppress(OSError):
            os.unlink(path)
        return answer
    return {**answer, "report": show(path), "capture": path}


def show(capture: str, verbose: bool = False) -> str:
    """Prints the diagnosis of a capture (a .nsc file) that an earlier run left."""
    return command(["show", *(["-v"] if verbose else []), "--no-color", "--", capture])


def explain(cause: str = "") -> str:
    """Prints the page of a cause by its id, as `log_of_zero`; without one, the list of causes."""
    return command(["explain", *([cause] if cause else [])])


async def fix(
    script: str,
    arguments: list[str] | None = None,
    module: bool = False,
    apply: bool = False,
    verify: int = 100,
    folder: str = "",
    timeout_s: float = 900,
) -> dict[str, Any]:
    """Looks for a patch of the source and proves it by running the program with it.

    No file is changed unless apply=true, which writes a verified patch. verify: steps to run on
    after the one that failed.
    """
    options = ["--verify", str(verify), "--max-time", str(max(1, int(timeout_s)))]
    options += ["--apply"] if apply else []
    words = program(script, arguments, module)
    done = await ToolRun.of("fix", options, words, folder, timeout_s + GRACE_S)
    answer = done.answer()
    return {**answer, "status_means": OF_FIX.get(done.status, "it could not be tried")}


def program(script: str, arguments: list[str] | None, module: bool) -> list[str]:
    """Behind `--`, so that a name that begins with - is no option of ours."""
    return [*(["-m", script] if module else ["--", script]), *(arguments or [])]


def unused_capture(folder: str, script: str) -> str:
    stem, count = os.path.splitext(os.path.basename(script))[0] or "program", 1
    while os.path.lexists(os.path.join(folder, f"nanscope-{stem}.{count}.nsc")):
        count += 1
    return f"nanscope-{stem}.{count}.nsc"


def command(words: list[str]) -> str:
    """Runs a verb that the core carries out alone, and gives what it printed."""
    outcome = _core.command_line(["nanscope", *words], _core.Terminal())
    if outcome.status == 2:
        raise refusal(outcome.err.decode("utf-8", "replace").strip())
    return outcome.out.decode("utf-8", "replace")


def refusal(sentence: str) -> Exception:
    """The kind whose words the client sees."""
    from mcp.server.mcpserver.exceptions import ToolError

    return ToolError(sentence)


class ToolRun:
    """One run of `nanscope` for a tool: its status and all that it wrote."""

    def __init__(self) -> None:
        self.status = NOT_STARTED
        self.interrupted = False
        self.printed = self.said = ""
        self.findings: dict[str, Any] = {}

    @classmethod
    async def of(
        cls, verb: str, options: list[str], words: list[str], folder: str, timeout_s: float
    ) -> ToolRun:
        if folder and not os.path.isdir(folder):
            raise refusal(f"{folder} is no folder.")
        self = cls()
        with tempfile.TemporaryDirectory(prefix="nanscope-mcp-") as answers:
            findings = os.path.join(answers, "findings.json")
            line = [sys.executable, sys.argv[0], verb, "--json", findings, *options, *words]
            with open(f"{answers}/out", "w+b") as out, open(f"{answers}/err", "w+b") as err:
                await self._carry_out(line, folder, timeout_s, out, err)
                self.printed, self.said = tail(out), tail(err)
            if os.path.exists(findings):
                with open(findings, encoding="utf-8") as file:
                    self.findings = json.load(file)
        return self

    async def _carry_out(
        self, line: list[str], folder: str, timeout_s: float, out: IO, err: IO
    ) -> None:
        import anyio

        process = await anyio.open_process(
            line, cwd=folder or None, stdin=subprocess.DEVNULL, stdout=out, stderr=err
        )
        try:
            with anyio.move_on_after(timeout_s):
                await process.wait()
            if process.returncode is None:
                self.interrupted = True
                process.send_signal(signal.SIGINT)
                with anyio.move_on_after(GRACE_S):
                    await process.wait()
        finally:  # nobody waits for the answer any more, or it does not end
            if process.returncode is None:
                process.kill()
                with anyio.CancelScope(shield=True):
                    await process.wait()
        self.status = process.returncode

    def answer(self) -> dict[str, Any]:
        if self.status in (2, NOT_STARTED) and not self.findings:
            raise refusal(self.said.strip() or "nanscope could not start.")
        first = next(iter(self.findings.get("findings", [])), None)
        answer: dict[str, Any] = {
            "verdict": self.findings.get("verdict", "unknown"),
            "exit_status": self.status,
            "interrupted": self.interrupted,
            "coverage": self.findings.get("coverage"),
            "stdout": self.printed,
            "stderr": self.said,
        }
        if first is not None and first["level"] == "error":
            answer["headline"] = first["headline"]
            for part in ("origin", "cause", "inputs", "fix", "verification"):
                answer[part] = first.get(part)
        return answer


def tail(file: IO) -> str:
    file.seek(0, os.SEEK_END)
    file.seek(max(0, file.tell() - KEPT))
    return file.read().decode("utf-8", "replace")
