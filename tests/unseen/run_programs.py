"""Runs programs one after another, each in a watch() block of its own, with one import of torch.

    run_programs.py MODE PROGRAM...

Prints a line of JSON for each. What a program raises is part of what is told.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import sys
from pathlib import Path

import torch

import nanscope

sys.path.insert(0, str(Path(__file__).parent))
torch.set_num_threads(1)


def outcome(path: str, mode: str) -> dict:
    said = io.StringIO()
    raised = None
    names = {"__name__": Path(path).stem, "__file__": path}
    block = nanscope.watch(mode=mode, on_find="report")
    torch.manual_seed(0)
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        try:
            with block:
                exec(compile(Path(path).read_text(), path, "exec"), names)
        except Exception as error:
            raised = f"{type(error).__name__}: {error}"
    names.clear()  # what the program held lives until the block has ended
    gc.collect()
    return {
        "program": Path(path).stem,
        "verdict": block.verdict,
        "raised": raised,
        "errors": [told(f, path) for f in block.findings if f.level == "error"],
        "report": block.report,
    }


def told(error: nanscope.Finding, path: str) -> dict:
    origin = error.origin
    places = [origin.site, *origin.stack]
    return {
        "kind": origin.kind,
        "op": origin.op,
        "phase": origin.phase,
        # A wrapper's __torch_dispatch__ stands in wrappers.py: the program's line is behind it.
        "lines": [at.line for at in places if at and Path(at.file).name == Path(path).name],
        "harm": error.harm.kind,
        "name": error.harm.name,
    }


if __name__ == "__main__":
    for program in sys.argv[2:]:
        print(json.dumps(outcome(program, sys.argv[1])), flush=True)
