"""Optimizers whose update divides by zero, or takes a root of what rounding made negative."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.case import NARROW, Case, written
from nanscope.fix.patch.operation import dotted, read
from nanscope.fix.patch.source_file import SourceFile
from nanscope.fix.rewrites import settings
from nanscope.fix.rewrites.scope import OPTIMIZERS


def propose(case: Case) -> Iterator[Candidate]:
    inside = case.origin.library_site
    if inside is None or not inside.file.endswith(".py"):
        return
    least = 1e-4 if case.dtype in NARROW else 1e-8
    shown = written(least)
    for source, call in _made(case):
        given = settings.of_call(case, source, call, "eps")
        if given is not None and given[2] < least:
            where, literal, _ = given
            yield Candidate(
                "optimizer_eps",
                "the update divides by 0 where a gradient never was: "
                f"eps, here {where.code(literal)}, is raised to {shown}"
                + (", which the type can hold." if case.dtype in NARROW else ", the default."),
                [where.edit(literal, shown)],
                changes_training=True,
            )
        if given is None and case.dtype in NARROW and _takes_eps(call):
            made = read(source, call)
            if made is not None:
                yield Candidate(
                    "optimizer_eps",
                    f"the default eps of the optimizer is 0 in {case.dtype}: {shown} is not. "
                    "Better still, keep the parameters in float32.",
                    made.add_argument(f"eps={shown}"),
                    changes_training=True,
                )
        centered = next((a for a in call.args if a.keyword and a.keyword.value == "centered"), None)
        if centered is not None and source.code(centered.value) == "True":
            yield Candidate(
                "not_centered",
                "the centred second moment is a difference that rounding makes negative, and its "
                "root is NaN: the plain one is not.",
                [source.edit(centered.value, "False")],
                changes_training=True,
            )


def _takes_eps(call: cst.Call) -> bool:
    name = dotted(call.func).rpartition(".")[2]
    given = any(a.keyword is not None and a.keyword.value == "eps" for a in call.args)
    return not given and name in ("Adam", "AdamW", "RMSprop", "NAdam", "RAdam", "Adamax", "Adagrad")


def _made(case: Case) -> Iterator[tuple[SourceFile, cst.Call]]:
    """Calls of torch's optimizers, however their arguments are given."""
    for source in case.sources:
        for node in source.nodes():
            if isinstance(node, cst.Call) and dotted(node.func).rpartition(".")[2] in OPTIMIZERS:
                yield source, node
