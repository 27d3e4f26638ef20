"""A learning rate that is right later, and too large for the first steps."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.imports import torch
from nanscope.fix.patch.operation import dotted
from nanscope.fix.patch.source_file import SourceFile
from nanscope.fix.rewrites.scope import below, optimizers, stands_alone, statement_of

STEPS = 100


def warm_up(case: Case) -> Iterator[Candidate]:
    """A scheduler behind the optimizer, stepped behind its step; unless there is a schedule."""
    if any("lr_scheduler" in source.text for source in case.sources):
        return
    for source, made in optimizers(case):
        statement, parent = statement_of(source, made.node), source.parent(made.node)
        if not isinstance(parent, cst.Assign) or not stands_alone(source, statement):
            continue
        name = dotted(parent.targets[0].target)
        steps = list(_steps(source, name))
        if not name or not steps:
            continue
        owner, _, _ = name.rpartition(".")
        word = "warmup" if "warmup" not in source.text else "lr_warmup"
        warmup = f"{owner}.{word}" if owner else word
        module, imports = torch(source)
        schedule = (
            f"{warmup} = {module}.optim.lr_scheduler.LinearLR("
            f"{name}, start_factor=0.01, total_iters={STEPS})"
        )
        edits = [*imports, below(source, statement, schedule)]
        edits += [below(source, step, f"{warmup}.step()") for step in steps]
        yield Candidate(
            "warm_up",
            f"the first updates are too large: the learning rate grows over {STEPS} steps.",
            edits,
            changes_training=True,
        )


def _steps(source: SourceFile, name: str) -> Iterator[cst.SimpleStatementLine]:
    for node in source.nodes():
        if isinstance(node, cst.Call) and dotted(node.func) == f"{name}.step":
            statement = statement_of(source, node)
            if stands_alone(source, statement):
                yield statement
