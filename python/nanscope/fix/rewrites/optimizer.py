"""Optimizers whose update divides by zero, or takes a root of what rounding made negative."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.case import Case
from nanscope.fix.rewrites.scope import optimizers


def propose(case: Case) -> Iterator[Candidate]:
    inside = case.origin.library_site
    if inside is None or not inside.file.endswith(".py"):
        return
    for source, made in optimizers(case):
        eps = made.keywords.get("eps")
        if isinstance(eps, cst.Float | cst.Integer) and float(eps.value) < 1e-8:
            yield Candidate(
                "optimizer_eps",
                f"the update divides by 0 where a gradient never was: eps={source.code(eps)} is "
                "raised to the default.",
                [source.edit(eps, "1e-8")],
                changes_training=True,
            )
        centered = made.keywords.get("centered")
        if centered is not None and source.code(centered) == "True":
            yield Candidate(
                "not_centered",
                "the centred second moment is a difference that rounding makes negative, and its "
                "root is NaN: the plain one is not.",
                [source.edit(centered, "False")],
                changes_training=True,
            )
