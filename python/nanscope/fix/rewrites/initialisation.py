"""Weights that are wrong before the first update."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.candidate import Candidate
from nanscope.fix.case import Case
from nanscope.fix.operation import dotted, read
from nanscope.fix.rewrites.scope import names_in


def propose(case: Case) -> Iterator[Candidate]:
    wanted = names_in(case.node) if case.node is not None else set()
    for facts in case.finding["inputs"]:
        wanted |= {part for part in facts["name"].replace("(", ".").split(".") if part}
    for source in case.sources:
        for node in source.nodes():
            if not isinstance(node, cst.Assign):
                continue
            name = dotted(node.targets[0].target).rpartition(".")[2]
            made = read(source, node.value)
            if made is None or made.name != "Parameter" or not made.operands:
                continue
            value = read(source, made.operands[0])
            if value is None or name not in wanted or value.name not in ("zeros", "empty"):
                continue
            shape = ", ".join(source.code(a) for a in value.node.args)
            yield Candidate(
                "random_initialisation",
                f"`{name}` begins as {value.name}, without direction: it begins small and random.",
                [source.edit(value.node, f"torch.randn({shape}) * 0.02")],
                changes_training=True,
            )
