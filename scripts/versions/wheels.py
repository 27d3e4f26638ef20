#!/usr/bin/env python3
"""`make wheels`: one wheel per CPython of this machine, with an adapter for every torch minor.

    PYTHONS="3.11 3.12" TORCHES="2.13 2.15" TRY=2.15.0 make wheels

Header sets are fetched once per minor and serve all Pythons; what was compiled stays compiled. The
wheels go to dist/. Each is tried in a fresh environment without a compiler, with the torch that
TRY names (2.15.0; a CUDA build is 5 GB, removed afterwards); TRY=none tries it without torch.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from page import read_known, write_known
from releases import (
    KEPT,
    LIBRARIES,
    ROOT,
    build_wheel,
    environment,
    minors_wanted,
    pythons,
    run,
    say,
    tag_of,
    tools_of,
)


def make_wheel(version: str, minors: list[str]) -> Path:
    tag = tag_of(version)
    built = build_wheel(version, minors, KEPT / f"wheel-{tag}")
    # Tagged with the oldest glibc it runs on; torch's libraries are there when it is imported.
    excluded = [f"--exclude={Path(name).name}" for name in LIBRARIES]
    for old in (ROOT / "dist").glob(f"nanscope-*-{tag}-*.whl"):
        old.unlink()
    python = tools_of(version)
    path = f"{python.parent}:{os.environ['PATH']}"
    run(
        *(python, "-m", "auditwheel", "repair", *excluded, "-w", ROOT / "dist", built),
        env=os.environ | {"PATH": path},
    )
    return next((ROOT / "dist").glob(f"nanscope-*-{tag}-*.whl"))


def try_wheel(wheel: Path, version: str, interpreter: str, torch: str) -> dict:
    """The wheel in an environment of its own, where no compiler can be found; what was seen."""
    folder = KEPT / f"fresh-{tag_of(version)}"
    shutil.rmtree(folder, ignore_errors=True)
    seen = {"file": wheel.name, "MB": round(wheel.stat().st_size / 1e6, 1)}
    try:
        needed = [] if torch == "none" else [f"torch=={torch}", "numpy"]
        say(f"An environment of Python {version} with {' and '.join(needed) or 'nothing'}")
        python = environment(folder, interpreter, *needed)
        bare = {"PATH": str(folder / "bin"), "HOME": str(folder), "CC": "false", "CXX": "false"}
        began = time.monotonic()
        run(*(python, "-m", "pip", "install", "-q", "--no-index", wheel), env=bare)
        seen["installed in s"] = round(time.monotonic() - began, 1)
        say(f"pip install {wheel.name}: {seen['installed in s']} s")
        tool = folder / "bin" / "nanscope"
        run(tool, "--version", env=bare, cwd=folder)
        if torch == "none":
            return seen
        run(tool, "doctor", "--self-test", env=bare, cwd=folder)
        shutil.copy(ROOT / "examples" / "vae.py", folder)
        demo = subprocess.run([tool, "run", "vae.py"], env=bare, cwd=folder, capture_output=True)
        text = demo.stderr.decode()
        if demo.returncode != 3 or "aten::log made -inf" not in text:
            sys.exit(f"{wheel.name}: the demo ended with {demo.returncode}:\n{text}")
        say(f"{wheel.name}: the demo's error is found with torch {torch}")
        return seen | {"tried with torch": torch}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def note_compiled(version: str, minors: list[str]) -> None:
    """For docs/supported.md: what no cell of the matrix has run is at least compiled."""
    known = read_known()
    for minor in minors:
        known["cells"].setdefault(f"{minor}-{version}", {"state": "compiled"})
    write_known(known)


def note_wheel(version: str, minors: list[str], seen: dict) -> None:
    known = read_known()
    known["wheels"][version] = {"adapters": minors, **seen}
    write_known(known)


def main() -> None:
    minors = minors_wanted()
    torch = os.environ.get("TRY") or "2.15.0"
    found = pythons()
    if not found:
        sys.exit("No supported Python is on this machine.")
    for version, interpreter in found.items():
        say(f"Python {version}: {interpreter}; adapters for torch {', '.join(minors)}")
        began = time.monotonic()
        wheel = make_wheel(version, minors)
        built = {"built in s": round(time.monotonic() - began)}
        note_compiled(version, minors)
        note_wheel(version, minors, built | try_wheel(wheel, version, interpreter, torch))
        print(wheel.relative_to(ROOT))


if __name__ == "__main__":
    main()
