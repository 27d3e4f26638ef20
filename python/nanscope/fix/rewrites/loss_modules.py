"""Losses that are modules (`criterion = nn.CrossEntropyLoss()`), over nothing."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch.candidate import Candidate, Comparison
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.imports import functional
from nanscope.fix.patch.operation import Operation, argument, dotted, read
from nanscope.fix.patch.source_file import SourceFile
from nanscope.fix.rewrites.reductions import counted_of, divided
from nanscope.telling.composites import MODULES

OVER_TARGETS = ("CrossEntropyLoss", "NLLLoss")
OVER_ELEMENTS = (
    "MSELoss",
    "L1Loss",
    "SmoothL1Loss",
    "HuberLoss",
    "BCELoss",
    "BCEWithLogitsLoss",
)


def propose(case: Case) -> Iterator[Candidate]:
    call = case.node
    if not isinstance(call, cst.Call) or len(call.args) != 2:
        return
    made = _constructor(case, dotted(call.func))
    if made is None or set(made.keywords) - {"ignore_index"} or made.operands:
        return
    source = case.source
    values, target = (a.value for a in call.args)
    ignored = made.keywords.get("ignore_index")
    index = made.source.code(ignored) if ignored is not None else "-100"
    name = MODULES[made.name]
    is_over_targets = made.name in OVER_TARGETS
    counted = counted_of(source, *([] if is_over_targets else [values]), target)
    if counted is None:
        return
    count = f"max({counted}.numel(), 1)"
    if is_over_targets:
        count = f"({argument(source, target)} != {index}).sum().clamp(min=1)"
    begin, end = source.whole_span(call)
    called = read(source, call)
    edits = [*made.add_argument('reduction="sum"'), *divided(called, count)]
    yield Candidate(
        "sum_over_count",
        "the mean of nothing is 0 / 0: the sum is divided by the count, or by 1.",
        edits,
        compare=_comparison(case, name, ignored is not None, index, count, begin, end),
    )


def _comparison(case, name, has_index, index, count, begin, end) -> Comparison | None:
    """By the function of the module: what is compared is what it computes."""
    prefix, missing = functional(case.source)
    if missing:
        return None
    given = ", ".join(argument(case.source, a.value) for a in case.node.args)
    given += f", ignore_index={index}" if has_index else ""
    before = f"{prefix}.{name}({given})"
    after = f'{prefix}.{name}({given}, reduction="sum") / {count}'
    return Comparison(case.source.path, begin, end, before, after)


def _constructor(case: Case, name: str) -> Operation | None:
    """Where the module is made, if it is called at one place only."""
    found, calls = [], 0
    for source in case.sources:
        calls += sum(dotted(n.func) == name for n in source.nodes() if isinstance(n, cst.Call))
        found += _made(source, name)
    return found[0] if name and len(found) == 1 and calls == 1 else None


def _made(source: SourceFile, name: str) -> Iterator[Operation]:
    for node in source.nodes():
        if isinstance(node, cst.Assign) and dotted(node.targets[0].target) == name:
            made = read(source, node.value)
            if made is not None and made.name in OVER_TARGETS + OVER_ELEMENTS:
                yield made
