"""What is paid once: start-up, reading a capture, the diagnosis of a large model's failing step.

bench/costs.py [--rounds N] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import startup

HERE = Path(__file__).parent
FAILS = "import torch\n\nx = torch.zeros(3, requires_grad=True)\nx.log().sum().backward()\n"


def start_up(rounds: int, cold: bool = False) -> dict:
    measured = startup.compare("import torch\n", rounds, cold)
    return {
        "wall_ms": round(measured["nanscope"][0] - measured["python"][0]),
        "cpu_ms": round(measured["nanscope"][1] - measured["python"][1]),
        "python_cpu_ms": round(measured["python"][1]),
        "python_wall_ms": round(measured["python"][0]),
    }


def show(folder: Path, rounds: int) -> dict:
    (folder / "fails.py").write_text(FAILS)
    run = [startup.NANSCOPE, "run", "-q", "-f", "-o", "fails.nsc", "fails.py"]
    subprocess.run(run, cwd=folder, capture_output=True)
    command = [str(startup.NANSCOPE), "show", "--no-color", str(folder / "fails.nsc")]
    taken = [startup.measure(command, quiet=True) for _ in range(rounds)]
    wall, cpu = (statistics.median(times) for times in zip(*taken, strict=True))
    return {"wall_ms": round(wall), "cpu_ms": round(cpu)}


def diagnosis(folder: Path) -> dict:
    """From the begin of the failing step to the end of the process, less a healthy step."""
    times = folder / "times.json"
    run = [startup.NANSCOPE, "run", "-f", "-o", "large.nsc", HERE / "large.py", times]
    done = subprocess.run(run, cwd=folder, capture_output=True, text=True)
    ended = time.monotonic()
    assert done.returncode == 3 and "aten::log" in done.stderr, done.stderr
    measured = json.loads(times.read_text())
    return {
        "wall_s": round(ended - measured["began"] - measured["healthy_s"], 2),
        "healthy_step_s": round(measured["healthy_s"], 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measured = {
            "start_up": start_up(arguments.rounds),
            "cold_start_up": start_up(max(3, arguments.rounds // 3), cold=True),
            "show": show(folder, arguments.rounds),
            "diagnosis": diagnosis(folder),
        }
    print(json.dumps(measured, indent=1))
    if arguments.json:
        arguments.json.write_text(json.dumps(measured, indent=1) + "\n")


if __name__ == "__main__":
    main()
