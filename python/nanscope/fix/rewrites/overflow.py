"""float32 and float64 arithmetic beyond the end of the type."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.candidate import Candidate
from nanscope.fix.case import Case
from nanscope.fix.operation import append

ROOM = {"float64": "1e150", "float32": "1e18", "bfloat16": "1e18", "float16": "65504.0"}


def propose(case: Case) -> Iterator[Candidate]:
    """All there is, where neither data nor training is to blame: a bound, far inside the type."""
    if not isinstance(case.node, cst.BaseExpression) or case.backward:
        return
    bound = ROOM[case.dtype]
    yield Candidate(
        "saturate",
        f"the result does not fit the type: it is kept between -{bound} and {bound}.",
        append(case.source, case.node, f".clamp(-{bound}, {bound})"),
        workaround=True,
    )
