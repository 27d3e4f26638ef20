"""What hides the fault; proposed last, and called by its name."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.operation import append


def propose(case: Case) -> Iterator[Candidate]:
    if not isinstance(case.node, cst.BaseExpression) or case.backward:
        return
    if isinstance(case.source.parent(case.node), cst.Expr):
        return  # what it returns is not used: `optimizer.step()`
    if isinstance(case.source.parent(case.node), cst.For | cst.CompFor):
        return  # a loader: no tensor
    bound = "1e4"
    yield Candidate(
        "replace_not_finite",
        "what is not finite is replaced by 0, or by a large number: the fault itself stays.",
        append(case.source, case.node, f".nan_to_num(0.0, posinf={bound}, neginf=-{bound})"),
        workaround=True,
        hides=True,
    )
