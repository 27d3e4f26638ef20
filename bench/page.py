"""How large report pages are, and when they can be used: bench/page.py [--rounds N] [--json FILE].

Pages of the golden captures, all of them in one page, and of the programs in tests/web/programs.
`ready` is when every part stands in the page, `painted` when the frame with them was drawn, both
since the navigation began in a Chromium that was started before. The goal is 500 ms.
"""

from __future__ import annotations

import argparse
import json
import os
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
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rounds = options.rounds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pages = write_pages(folder)
        times = measure(pages, folder, rounds)
        medians = {
            page: {
                "kilobytes": round(pages[page].stat().st_size / 1000),
                **{
                    f"{key}_ms": round(statistics.median(one[key] for one in seen))
                    for key in ("ready", "painted")
                },
            }
            for page, seen in times.items()
        }
    print(f"{'page':28} {'kB':>6} {'ready':>8} {'painted':>8}   median of {rounds}, ms")
    for page, x in medians.items():
        print(f"{page:28} {x['kilobytes']:6} {x['ready_ms']:8} {x['painted_ms']:8}")
    if options.json:
        load = [round(x, 1) for x in os.getloadavg()]
        measured = {"rounds": rounds, "load": load, "pages": medians}
        options.json.write_text(json.dumps(measured, indent=1) + "\n")


if __name__ == "__main__":
    main()
