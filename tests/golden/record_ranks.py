"""Records the captures of three ranks of one run, which tests of the page are made from.

    tests/golden/record_ranks.py

Rank 1 makes a value that the others receive. Run it when what a capture holds has changed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "tests/cli"))
import forged  # noqa: E402

NANSCOPE = ROOT / ".venv/bin/nanscope"
PROGRAM = ROOT / "tests/ranks/programs/ddp_log_of_zero.py"


def without_root(text: str) -> str:
    return text.replace(f"{ROOT}/", "")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "train.py").write_text(PROGRAM.read_text())
        command = [NANSCOPE, "run", "-q", "--nproc", "3", "train.py"]
        subprocess.run(command, cwd=folder, check=False)
        for capture in folder.glob("nanscope-train.*.nsc"):
            read = forged.records_of(capture)
            records = [(kind, forged.every_text(record, without_root)) for kind, record in read]
            programs = [record for kind, record in records if kind == forged.TYPES["program"]]
            ranks = [program["rank"] for program in programs if program.get("rank") is not None]
            for program in programs:  # the machine and the process are the same everywhere
                program.update(host="node7", pid=4200 + ranks[-1])
            to = ROOT / f"tests/golden/ranks/{ranks[-1]}.nsc"
            to.parent.mkdir(exist_ok=True)
            forged.write(to, records, capture)
            print(to.relative_to(ROOT), to.stat().st_size)


if __name__ == "__main__":
    main()
