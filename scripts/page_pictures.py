#!/usr/bin/env python3
"""Takes the pictures of the report page that the docs show: scripts/page_pictures.py

Writes docs/page*.png from pages of the programs in tests/web and of the recorded ranks. With
`--every FOLDER` it takes none of them, but every page that tests/web looks at, whole, at 400 and
1,400 pixels, light and dark: to be looked at by a person after a change of the page.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path += [str(ROOT / "tests"), str(ROOT / "tests/web")]
import page_captures  # noqa: E402

NANSCOPE = ROOT / ".venv/bin/nanscope"
PROGRAMS = ROOT / "tests/web/programs"


def page_of(captures: list[Path], to: Path) -> Path:
    subprocess.run([NANSCOPE, "report", "-q", *captures, "-o", to], check=True)
    return to


def capture_of(name: str, folder: Path) -> Path:
    """Of a program, run where its name alone is its path; it ends with status 3."""
    program, options = page_captures.PROGRAMS[name]
    shutil.copy(PROGRAMS / program, folder)
    capture = folder / f"{name}.nsc"
    command = [NANSCOPE, "run", "-q", "-f", *options, "-o", capture.name, program]
    subprocess.run(command, cwd=folder, check=False)
    return capture


def shots_of_the_docs(folder: Path) -> list[dict[str, object]]:
    """What stands at the top of each picture, how wide the window is, and how high the picture."""
    one = str(page_of([capture_of("pictures", folder)], folder / "one.html"))
    ranks = str(page_of(page_captures.RANKS, folder / "ranks.html"))
    wide = {"width": 1100, "scale": 1, "scheme": "light"}
    return [
        {**wide, "page": one, "name": "page", "height": 820},
        {**wide, "page": one, "name": "page-curves", "top": "#history", "bottom": "#modules"}
        | {"scheme": "dark"},
        {**wide, "page": one, "name": "page-phone", "width": 400, "scale": 1.5}
        | {"top": "#inputs .tensor.output", "bottom": "#journey .lanes"},
        {**wide, "page": ranks, "name": "page-ranks", "top": "#journey", "height": 620},
    ]


def shots_of_every_page(folder: Path) -> list[dict[str, object]]:
    captures = {name: [page_captures.golden(name)] for name in page_captures.CHOSEN}
    captures |= {name: [capture_of(name, folder)] for name in page_captures.PROGRAMS}
    captures["ranks"] = page_captures.RANKS
    (folder / "clean.nsc").write_bytes(page_captures.clean_run())
    captures["clean"] = [folder / "clean.nsc"]
    return [
        {
            "page": str(page_of(paths, folder / f"{name}.html")),
            "name": f"{name}-{width}-{scheme}",
            "width": width,
            "scale": 1,
            "scheme": scheme,
            "whole": True,
        }
        for name, paths in captures.items()
        for width in (400, 1400)
        for scheme in ("light", "dark")
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--every", type=Path, metavar="FOLDER", help="every page, to look at")
    to = parser.parse_args().every
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shots = shots_of_every_page(folder) if to else shots_of_the_docs(folder)
        plan = {
            "modules": str(ROOT / "build/web-tests"),
            "browser": shutil.which("chromium"),
            "to": str(to.resolve() if to else ROOT / "docs"),
            "shots": shots,
        }
        if to:
            to.mkdir(parents=True, exist_ok=True)
        (folder / "plan.json").write_text(json.dumps(plan))
        script = ROOT / "scripts/page_pictures.mjs"
        subprocess.run(["node", script, folder / "plan.json"], check=True)


if __name__ == "__main__":
    main()
