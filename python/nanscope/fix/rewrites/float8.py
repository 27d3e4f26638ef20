"""Values that a float8 kind cannot hold: stopped at its largest number before the cast."""

from __future__ import annotations

from collections.abc import Iterator

from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.operation import primary


def propose(case: Case) -> Iterator[Candidate]:
    operation = case.operation
    if operation is None or not _made(case).startswith("float8") or operation.form != "method":
        return
    if operation.name in ("to", "type"):
        value = operation.operands[0]
    elif operation.name == "copy" and len(operation.operands) > 1:
        value = operation.operands[1]
    else:
        return
    source = case.source
    largest = f"torch.finfo(torch.{_made(case)}).max"
    text = f"{primary(source, value)}.clamp(-{largest}, {largest})"
    yield Candidate(
        "saturate_before_cast",
        f"the value does not fit {_made(case)}: it stops at the end of the type.",
        [source.edit(value, text)],
    )


def _made(case: Case) -> str:
    outputs = case.finding.outputs
    place = case.origin.output
    return outputs[place].dtype if place < len(outputs) else ""
