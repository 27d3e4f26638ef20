"""How many instructions a training step takes, plain and watched: the same on a busy machine.

    bench/instructions.py [--only WORD] [--modes plain,exact] [--json FILE] [--profile FOLDER]

callgrind runs each process from its first instruction and counts only inside the steps that are
asked for, so that one binary gives one number (to some 0.1 %). Instructions are no time: what waits
for memory costs more than it counts. With --profile the counts by function are left in FOLDER, to
be read by callgrind_annotate.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import everything
import steppers

ROOT = Path(__file__).resolve().parent.parent
MODES = ("plain", "exact", "sentinel", "left")
# They come by the clock, some minutes apart: bench/sentinel.py measures them.
NO_SNAPSHOTS = ("--snapshot-every", "1e9")


def requests_library() -> Path:
    """Callgrind is told by instructions of its own, which C can write."""
    source = Path(__file__).with_name("callgrind_requests.c")
    library = ROOT / "build" / "bench" / "callgrind_requests.so"
    if not library.exists() or library.stat().st_mtime < source.stat().st_mtime:
        library.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", source, "-o", library], check=True)
    return library


def total_of(profiles: Path, mode: str) -> int:
    """Of the process that counted; children that only waited have counted nothing."""
    texts = (path.read_text() for path in profiles.glob(f"callgrind.{mode}.*"))
    found = (re.search(r"^totals: (\d+)$", text, re.MULTILINE) for text in texts)
    return max(int(match[1]) for match in found if match)


def count(name: str, mode: str, profile: Path | None = None) -> float:
    """Instructions of one step."""
    workload = everything.ALL[name]
    with tempfile.TemporaryDirectory() as folder:
        profiles = profile or Path(folder)
        command = [
            "valgrind",
            "--tool=callgrind",
            "--instr-atstart=no",
            f"--callgrind-out-file={profiles}/callgrind.{mode}.%p",
            *steppers.command(name, mode, *(NO_SNAPSHOTS if mode == "sentinel" else ())),
        ]
        requests = {"NANSCOPE_BENCH_CALLGRIND": str(requests_library())}
        with steppers.Stepper(command, folder, os.environ | requests) as stepper:
            stepper.steps(workload.warm)
            stepper.count(workload.counted)
        return total_of(profiles, mode) / workload.counted


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--profile", type=Path)
    arguments = parser.parse_args()
    if arguments.profile:
        arguments.profile.mkdir(parents=True, exist_ok=True)
    measured = {}
    for name in everything.ALL:
        if arguments.only not in name:
            continue
        counts = {}
        for mode in arguments.modes.split(","):
            counts[mode] = round(count(name, mode, arguments.profile))
            beside = counts[mode] / counts.get("plain", counts[mode])
            print(f"{name}: {mode} {counts[mode]:,} {beside:.4f}", flush=True)
        measured[name] = counts
        if arguments.json:
            arguments.json.write_text(json.dumps(measured, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
