"""How large report pages are, and when they can be used: bench/page.py [--rounds N].

Pages of the golden captures, all of them in one page, and of the programs in tests/web/programs.
`ready` is when every part stands in the page, `painted` when the frame with them was drawn, both
since the navigation began in a Chromium that was started before. The goal is 500 ms.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NANSCOPE = ROOT / ".venv/bin/nanscope"
PROGRAMS = ROOT / "tests/web/programs"


def write_pages(folder: Path) -> dict[str, Path]:
    golden = sorted((ROOT / "tests/golden/captures").glob("*.nsc"))
    sources: dict[str, list[Path]] = {
        "one golden capture": golden[:1],
        "all golden captures": golden,
    }
    for program in sorted(PROGRAMS.glob("*.py")):
        capture = folder / f"{program.stem}.nsc"
        subprocess.run([NANSCOPE, "run", "-q", "-o", capture, program], cwd=folder, check=False)
        sources[program.stem] = [capture]
    pages = {}
    for number, (name, captures) in enumerate(sources.items()):
        pages[name] = folder / f"{number}.html"
        command = [NANSCOPE, "report", *captures, "-o", pages[name]]
        subprocess.run(command, check=True, capture_output=True)
    return pages


def measure(pages: dict[str, Path], folder: Path, rounds: int) -> dict[str, list[dict[str, float]]]:
    plan = {
        "modules": str(ROOT / "build/web-tests"),
        "browser": shutil.which("chromium"),
        "rounds": rounds,
        "pages": {name: str(page) for name, page in pages.items()},
    }
    (folder / "plan.json").write_text(json.dumps(plan))
    command = ["node", ROOT / "bench/page.mjs", folder / "plan.json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pages = write_pages(folder)
        times = measure(pages, folder, rounds)
        print(f"{'page':28} {'kB':>6} {'ready':>8} {'painted':>8}   median of {rounds}, ms")
        for page, seen in times.items():
            ready, painted = (
                statistics.median(round_[key] for round_ in seen) for key in ("ready", "painted")
            )
            print(f"{page:28} {pages[page].stat().st_size / 1000:6.0f} {ready:8.0f} {painted:8.0f}")


if __name__ == "__main__":
    main()
