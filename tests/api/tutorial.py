"""Runs the Python blocks of a page in order and prints, as JSON, what each of them printed.

    tutorial.py PAGE FOLDER

Each section has names of its own. A block is a file in FOLDER, so that reports can show its lines;
an exception ends the block, and is printed as Python would print its last lines.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
import traceback
from pathlib import Path

from nanscope import _core

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)


def run(code: str, file: Path, names: dict) -> str:
    file.write_text(code)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            _core.call_hidden(exec, compile(code, file.name, "exec"), names)
        except Exception as error:
            printed.write("".join(traceback.format_exception_only(error)))
    return printed.getvalue()


def main(page: str, folder: str) -> None:
    outputs = []
    for number, section in enumerate(re.split(r"^## ", Path(page).read_text(), flags=re.M)):
        names: dict = {"__name__": "__main__"}
        for part, code in enumerate(BLOCK.findall(section)):
            file = Path(folder) / f"step_{number}{chr(ord('a') + part)}.py"
            outputs.append(run(code, file, names))
    json.dump(outputs, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
