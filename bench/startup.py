"""What `nanscope run` costs before the program does anything: beside python, in one run.

The two are interleaved, and medians are compared: of the wall clock and of CPU time, which a busy
machine disturbs less. `cold`: what both read of torch, Python and nanscope is thrown out of the
page cache before each.
"""

from __future__ import annotations

import os
import statistics
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

NANSCOPE = Path(sysconfig.get_path("scripts")) / "nanscope"
PROGRAMS = {"import torch": "import torch\n", "without torch": "x = 1\n"}


def measure(command: list[str], quiet: bool = False) -> tuple[float, float]:
    """Milliseconds of wall clock and of CPU."""
    away = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
    began = time.perf_counter()
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=away if quiet else ())
    _, _, used = os.wait4(pid, 0)
    wall = time.perf_counter() - began
    return wall * 1e3, (used.ru_utime + used.ru_stime) * 1e3


def forget_files() -> None:
    """Out of the page cache, as far as no other process has them mapped; needs no rights."""
    for folder in {sysconfig.get_path("platlib"), sysconfig.get_path("stdlib")}:
        for path in Path(folder).rglob("*"):
            if path.suffix not in {".py", ".pyc", ".so"} and ".so." not in path.name:
                continue
            try:
                file = os.open(path, os.O_RDONLY)
            except OSError:
                continue
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(file)


def compare(text: str, rounds: int, cold: bool = False) -> dict[str, tuple[float, float]]:
    """Medians for a program of this text, under python and under nanscope."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "program.py"
        script.write_text(text)
        commands = {
            "python": [sys.executable, str(script)],
            "nanscope": [str(NANSCOPE), "run", "-q", str(script)],
        }
        seen = {which: [] for which in commands}
        for which in commands:
            measure(commands[which])  # into the page cache
        for _ in range(rounds):
            for which, command in commands.items():
                if cold:
                    forget_files()
                seen[which].append(measure(command))
    return {
        which: tuple(statistics.median(times) for times in zip(*taken, strict=True))
        for which, taken in seen.items()
    }


def tell(name: str, text: str, rounds: int) -> None:
    measured = compare(text, rounds)
    (python, python_cpu), (nanscope, nanscope_cpu) = measured["python"], measured["nanscope"]
    print(
        f"{name:14}  python {python:6.0f} ms, nanscope {nanscope:6.0f} ms;"
        f" difference {nanscope - python:+5.0f} ms (CPU {nanscope_cpu - python_cpu:+5.0f} ms)"
    )


if __name__ == "__main__":
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    for name, text in PROGRAMS.items():
        tell(name, text, rounds)
