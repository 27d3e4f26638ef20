"""Proposals for a piece of source in which «the failing expression» is marked."""

from __future__ import annotations

import math
from pathlib import Path

from nanscope.findings import Cause, Finding, Origin, Site, TensorFacts
from nanscope.fix.patch import instrument, propose
from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.case import Case

NAME = "train.py"


def tensor(argument: str = "self", **facts: object) -> TensorFacts:
    usual = {
        "name": "x", "dtype": "float32", "shape": [4], "min": 0.0, "max": 3.5, "mean": 1.3,
        "zeros": 1, "negatives": 0, "subnormals": 0, "nan": 0, "pos_inf": 0, "neg_inf": 0,
        "at_index": [0.0], "argument": argument,
    }  # fmt: skip
    return TensorFacts(**(usual | facts))


def case_of(
    folder: Path,
    marked: str,
    cause: str,
    *inputs: TensorFacts,
    phase: str = "forward",
    library: str | None = None,
    step: int = 3,
    op: str = "",
) -> Case:
    data = marked.encode()
    begin, end = data.index("«".encode()), data.index("»".encode())
    before = data[:begin].decode()
    code = data[begin + 2 : end].decode()
    text = marked.replace("«", "").replace("»", "")
    (folder / NAME).write_bytes(text.encode())
    lines = before.replace("\r\n", "\n").split("\n")
    inside = code.replace("\r\n", "\n").split("\n")
    site = Site(
        file=NAME,
        line=len(lines),
        end_line=len(lines) + len(inside) - 1,
        col=len(lines[-1]),
        end_col=len(inside[-1]) + (len(lines[-1]) if len(inside) == 1 else 0),
        code=code.replace("\r\n", "\n"),
        function="f",
    )
    origin = Origin(
        kind="birth", phase=phase, op=op, node=None, site=site,
        library_site=Site(library, 1, 1, 0, 0, "", "") if library else None,
        stack=[], module=None, step=step, rank=None, worker=None, output=0, index=[0],
        value=math.nan, nan=1, pos_inf=0, neg_inf=0, numel=4, indices=[[0]],
    )  # fmt: skip
    finding = Finding(
        level="error",
        origin=origin,
        harm=None,
        chain=[],
        chain_truncated=False,
        inputs=list(inputs) or [tensor()],
        outputs=[],
        cause=Cause(cause, "certain", "", []),
    )
    return Case(finding, {}, str(folder), NAME)


def patched(case: Case, candidate: Candidate) -> str:
    files = instrument.patched(case.files, candidate)
    (only,) = files.values()
    return only.data.decode()


def proposals(
    folder: Path, marked: str, cause: str, *inputs: TensorFacts, **more
) -> dict[str, str]:
    """The patched text of the first candidate of each kind."""
    case = case_of(folder, marked, cause, *inputs, **more)
    found: dict[str, str] = {}
    for candidate in propose.candidates(case):
        found.setdefault(candidate.id, patched(case, candidate))
        instrument.measuring(case, candidate)
    return found


def first(folder: Path, marked: str, cause: str, *inputs: TensorFacts, **more) -> str:
    """The patched text of the best candidate."""
    case = case_of(folder, marked, cause, *inputs, **more)
    best = propose.candidates(case)[0]
    for source in instrument.measuring(case, best).values():
        compile(source.data, source.path, "exec")
    return patched(case, best)


HEAD = "import torch\nimport torch.nn.functional as F\n"
SIZES = tensor("other", mean=0.4)  # of a divisor that counts nothing


def body(folder: Path, line: str, cause: str, *inputs: TensorFacts, **more) -> str:
    """The best patch of code behind the imports."""
    text = first(folder, HEAD + line, cause, *inputs, **more)
    assert text.startswith(HEAD)
    return text.removeprefix(HEAD)
