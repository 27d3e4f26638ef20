"""`nanscope run` of many programs, each in a fork of one process that has imported torch.

    prepared_runner.py FOLDER [OPTION...]

Each folder in FOLDER holds a program.py; its finding.json, out, err and status are left beside it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy  # noqa: F401
import torch._dynamo  # noqa: F401  # an optimizer's first call imports it


def run_in_child(folder: Path, options: list[str]) -> None:
    os.chdir(folder)
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
    from nanscope.__main__ import main
    from nanscope.run import proposal

    proposal.add_to = lambda *_: None  # patches are not looked for: each takes half a second
    sys.argv = ["nanscope", "run", "--json", "finding.json", *options, "program.py"]
    sys.exit(main())


def run(folder: Path, options: list[str]) -> None:
    child = os.fork()
    if child == 0:
        run_in_child(folder, options)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    (folder / "status").write_text(str(status))


if __name__ == "__main__":
    for path in sorted(Path(sys.argv[1]).iterdir()):
        run(path, sys.argv[2:])
