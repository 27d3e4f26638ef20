"""`nanscope scan` beside what one does without it: load the checkpoint, then ask isfinite.

    bench/scan_checkpoints.py [--gigabytes N] [--rounds N] [--json FILE]

Each way is a process of its own; they take turns, and the quickest round of each counts. The time
of a rival is that of loading and asking alone, without its `import torch`; nanscope's is the
whole command. On a busy machine torch's threads wait for each other: each rival runs with all
threads and with one, and the better of the two counts. The files are in the page cache, as after
training wrote them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NANSCOPE = Path(sysconfig.get_path("scripts")) / "nanscope"
PACKAGES = list((ROOT / ".venv" / "packages").glob("lib/python3*/site-packages"))

ASK = """
import sys, time, torch
path = sys.argv[1]
{imports}
began, cpu = time.perf_counter(), time.process_time()
state = {load}
finite = all(bool(t.isfinite().all()) for t in state.values())
print(time.perf_counter() - began, time.process_time() - cpu)
assert finite
"""
RIVALS = {
    "torch.load": ("", "torch.load(path, weights_only=True)"),
    "torch.load(mmap=True)": ("", "torch.load(path, weights_only=True, mmap=True)"),
    "safetensors load_file": ("from safetensors.torch import load_file", "load_file(path)"),
}
FILES = {
    "float32.pt": ("torch.load", "torch.load(mmap=True)"),
    "bfloat16.pt": ("torch.load", "torch.load(mmap=True)"),
    "float32.safetensors": ("safetensors load_file",),
    "bfloat16.safetensors": ("safetensors load_file",),
}
WRITE = """
import sys, torch
from safetensors.torch import save_file
folder, layers = sys.argv[1], int(sys.argv[2])
for dtype in (torch.float32, torch.bfloat16):
    count = layers * (4 // dtype.itemsize)
    state = {f"layers.{i}.weight": torch.randn(2048, 2048).to(dtype) for i in range(count)}
    name = str(dtype).removeprefix("torch.")
    torch.save(state, f"{folder}/{name}.pt")
    save_file(state, f"{folder}/{name}.safetensors")
"""


def run(command: list[str], **environment: str) -> tuple[float, float, str, float]:
    """Seconds, seconds of CPU, output, and megabytes of the largest resident memory."""
    path = os.pathsep.join(map(str, PACKAGES))
    began = time.perf_counter()
    child = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path, **environment},
    )
    assert child.stdout is not None
    out = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    wall = time.perf_counter() - began
    assert os.waitstatus_to_exitcode(status) == 0, command
    return wall, used.ru_utime + used.ru_stime, out, used.ru_maxrss / 1024


def ask(rival: str, path: Path, **environment: str) -> tuple[float, float, float]:
    imports, load = RIVALS[rival]
    program = ASK.format(imports=imports, load=load)
    _, _, out, memory = run([sys.executable, "-c", program, str(path)], **environment)
    seconds, cpu = map(float, out.split())
    return seconds, cpu, memory


def scan(path: Path) -> tuple[float, float, float]:
    seconds, cpu, _, memory = run([str(NANSCOPE), "scan", "-q", str(path)])
    return seconds, cpu, memory


def measure(folder: Path, rounds: int) -> dict:
    measured = {}
    for name, rivals in FILES.items():
        path = folder / name
        seen: dict[str, list[tuple[float, float, float]]] = {}
        for _ in range(rounds):
            seen.setdefault("nanscope scan", []).append(scan(path))
            for rival in rivals:
                for threads in ({}, {"OMP_NUM_THREADS": "1"}):
                    seen.setdefault(rival, []).append(ask(rival, path, **threads))
        measured[name] = {"gigabytes": round(path.stat().st_size / 1e9, 2), "ways": {}}
        for way, results in seen.items():
            seconds, cpu, memory = (min(column) for column in zip(*results, strict=True))
            measured[name]["ways"][way] = {
                "seconds": round(seconds, 3),
                "cpu_seconds": round(cpu, 3),
                "peak_mb": round(memory),
            }
            print(f"{name:22}{way:24}{seconds:8.2f} s{cpu:8.2f} s of CPU{memory:7.0f} MB")
    return measured


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        layers = max(1, round(given.gigabytes * 1e9 / 2048 / 2048 / 4))
        run([sys.executable, "-c", WRITE, folder, str(layers)])
        measured = {"load": [], "files": measure(Path(folder), given.rounds)}
    measured["load"] = [round(x, 1) for x in os.getloadavg()]
    if given.json:
        given.json.write_text(json.dumps(measured, indent=1) + "\n")


if __name__ == "__main__":
    main()
