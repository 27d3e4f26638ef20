"""float32 and float64 arithmetic beyond the end of the type."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.operation import append, read
from nanscope.fix.rewrites.division import divisor_of

ROOM = {"float64": "1e150", "float32": "1e18", "bfloat16": "1e18", "float16": "65504.0"}
LEAST = {"float64": ("1e-100", "1e-12"), "float32": ("1e-12", "1e-8")}


def of_quotient(case: Case) -> Iterator[Candidate]:
    """`(d / sigma) ** 2`: the divisor is so small that the quotient, or its power, is too large."""
    whole = case.operation
    if whole is None or not whole.operands or case.dtype not in LEAST:
        return
    for quotient in (whole, read(case.source, whole.operands[0])):
        if quotient is None or quotient.name != "div":
            continue
        divisor = divisor_of(quotient)
        if divisor is None or isinstance(divisor, cst.Integer | cst.Float):
            continue
        for least in LEAST[case.dtype]:
            yield Candidate(
                "clamp_divisor",
                f"{case.source.shown(divisor)} is so small that the result does not fit the type: "
                f"it is kept at {least} or more.",
                quotient.wrap(divisor, f"clamp(min={least})"),
            )


def propose(case: Case) -> Iterator[Candidate]:
    """All there is, where neither data nor training is to blame: a bound, far inside the type."""
    if not isinstance(case.node, cst.BaseExpression) or case.backward:
        return
    if case.origin.phase == "optimizer":
        return  # `optimizer.step()` gives nothing that could be kept in range
    bound = ROOM[case.dtype]
    yield Candidate(
        "saturate",
        f"the result does not fit the type: it is kept between -{bound} and {bound}.",
        append(case.source, case.node, f".clamp(-{bound}, {bound})"),
        workaround=True,
    )
