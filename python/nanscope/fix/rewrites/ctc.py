"""CTC targets that do not fit their input."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch.candidate import Candidate, Comparison
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.imports import functional
from nanscope.fix.patch.operation import Operation, argument, read

WHY = "a target that is longer than its input has no path, and its loss is inf: it counts as 0."


def propose(case: Case) -> Iterator[Candidate]:
    operation = case.operation
    if operation is not None and operation.name == "ctc_loss":
        if "zero_infinity" not in operation.keywords:
            yield Candidate("zero_infinity", WHY, operation.add_argument("zero_infinity=True"))
        return
    for source in case.sources:
        for node in source.nodes():
            made = read(source, node) if isinstance(node, cst.Call) else None
            if made is not None and made.name == "CTCLoss" and "zero_infinity" not in made.keywords:
                edits = made.add_argument("zero_infinity=True")
                yield Candidate("zero_infinity", WHY, edits, compare=_comparison(case, made))


def _comparison(case: Case, made: Operation) -> Comparison | None:
    """By the function of the module, where it is called: what is compared is what it computes."""
    source, call = case.source, case.node
    if not isinstance(call, cst.Call) or len(call.args) != 4 or made.operands:
        return None
    prefix, missing = functional(source)
    if missing or any(a.keyword is not None for a in call.args):
        return None
    given = [argument(source, a.value) for a in call.args]
    given += [f"{name}={made.source.code(value)}" for name, value in made.keywords.items()]
    before = f"{prefix}.ctc_loss({', '.join(given)})"
    after = f"{prefix}.ctc_loss({', '.join(given)}, zero_infinity=True)"
    return Comparison(source.path, *source.whole_span(call), before, after)
