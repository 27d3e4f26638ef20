"""CTC targets that do not fit their input."""

from __future__ import annotations

from collections.abc import Iterator

from nanscope.fix.candidate import Candidate
from nanscope.fix.case import Case
from nanscope.fix.operation import read


def propose(case: Case) -> Iterator[Candidate]:
    why = "a target that is longer than its input has no path, and its loss is inf: it counts as 0."
    operation = case.operation
    if operation is not None and operation.name == "ctc_loss":
        if "zero_infinity" not in operation.keywords:
            yield Candidate("zero_infinity", why, operation.add_argument("zero_infinity=True"))
        return
    for source in case.sources:
        for node in source.nodes():
            made = read(source, node) if type(node).__name__ == "Call" else None
            if made is not None and made.name == "CTCLoss":
                if "zero_infinity" not in made.keywords:
                    yield Candidate("zero_infinity", why, made.add_argument("zero_infinity=True"))
