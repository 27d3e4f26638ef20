"""Processes that run bench/stepper.py, plain, watched, or with a rival in them."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

STEPPER = str(Path(__file__).with_name("stepper.py"))
NANSCOPE = str(Path(sysconfig.get_path("scripts")) / "nanscope")


def command(workload: str, mode: str, *options: str) -> list[str]:
    """`mode`: plain, exact, sentinel, left, or one of rivals.py; `options` of nanscope run."""
    if mode in ("exact", "sentinel"):
        watch = [NANSCOPE, "run", "-q", "-f", "--mode", mode, *options, "-o", "bench.nsc"]
        return [sys.executable, *watch, STEPPER, workload]
    more = {"plain": [], "left": ["--left"]}.get(mode, ["--rival", mode])
    return [sys.executable, STEPPER, workload, *more]


class Stepper:
    """One such process, asked by lines; it ends with the block."""

    def __init__(self, command: list[str], folder: str, environment: dict | None = None) -> None:
        self.errors = Path(folder) / "errors.txt"
        with self.errors.open("w") as errors:
            self.process = subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )

    def __enter__(self) -> Stepper:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stdin.close()
        self.process.stdout.read()
        self.process.wait()

    def ask(self, question: str) -> float:
        self.process.stdin.write(question + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("answer "):
                return float(line.split()[1])
        ended = self.process.wait()
        raise RuntimeError(f"a stepper ended with status {ended}:\n{self.errors.read_text()}")

    def steps(self, times: int) -> float:
        """CPU seconds of that many steps."""
        return self.ask(f"steps {times}")

    def count(self, times: int) -> None:
        self.ask(f"count {times}")

    def peak_kb(self) -> int:
        return int(self.ask("peak"))
