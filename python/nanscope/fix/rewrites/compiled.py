"""A setting of the compiler under which a region gives what eager gives."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch import imports
from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.operation import dotted
from nanscope.fix.patch.source_file import Edit, SourceFile

CONFIG = "torch._inductor.config"
WHY = {
    "emulate_precision_casts": "Fused kernels then round where eager does, to half precision "
    "behind each operation.",
    "cpp.enable_unsafe_math_opt_flag": "The compiler may then no longer reorder what is added and "
    "multiplied.",
    "cpp.enable_floating_point_contract_flag": "Products and sums are then rounded one by one, as "
    "eager does.",
    "pattern_matcher": "Inductor then leaves the operations as they are written.",
}


def propose(case: Case) -> Iterator[Candidate]:
    known = case.finding.only_compiled
    if known is None or not known.setting or case.source is None:
        return
    written = [(s, value) for s in case.sources for value in _given(s, known.setting)]
    if written:
        edits = [Edit(s.path, *s.span(value), known.setting_value) for s, value in written]
    else:
        line = f"import {CONFIG}{case.source.newline}"
        line += f"{CONFIG}.{known.setting} = {known.setting_value}"
        edits = [imports.add(case.source, line)]
    yield Candidate(
        "compile_as_eager",
        f"{WHY.get(known.setting, 'The region then gives what eager gives.')} Compiled so, it was "
        "seen to be finite on these inputs.",
        edits,
        changes_training=True,
        unmeasured=True,
    )


def _given(source: SourceFile, setting: str) -> Iterator[cst.BaseExpression]:
    """Where the program itself says what the setting is to be."""
    for node in source.nodes():
        match node:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute() as target)]):
                if f".{dotted(target)}".endswith(f"config.{setting}"):
                    yield node.value
            case cst.DictElement(key=cst.SimpleString() as key) if key.evaluated_value == setting:
                yield node.value
