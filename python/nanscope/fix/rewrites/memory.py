"""Memory that is read before it is written."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.source_file import Edit

ZEROED = {"empty": "zeros", "empty_like": "zeros_like", "new_empty": "new_zeros",
          "Tensor": "zeros", "FloatTensor": "zeros"}  # fmt: skip


def propose(case: Case) -> Iterator[Candidate]:
    operation = case.operation
    if operation is None or not isinstance(operation.node, cst.Call):
        return
    if operation.name not in ZEROED:
        return
    function = operation.node.func
    name = function.attr if isinstance(function, cst.Attribute) else function
    begin, end = case.source.span(operation.node)
    a, b = (place - begin for place in case.source.span(name))
    code = case.source.text[begin:end]
    edit = Edit(case.source.path, begin, end, code[:a] + ZEROED[operation.name] + code[b:])
    why = "the memory is read where it was never written: it begins as zeros."
    yield Candidate("zeros_for_empty", why, [edit], is_value=False)
