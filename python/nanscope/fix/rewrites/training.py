"""Training that diverges: clipping, and a lower learning rate."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.case import Case, written
from nanscope.fix.patch.operation import (
    Operation,
    dotted,
    find,
    is_module,
    primary,
    pure,
    read,
)
from nanscope.fix.patch.source_file import Edit, SourceFile
from nanscope.fix.rewrites import settings
from nanscope.fix.rewrites.scope import indentation, optimizers, starts_line, statement_of
from nanscope.fix.rewrites.warm_up import warm_up

GROWN = 4  # times what is usual before


def propose(case: Case) -> Iterator[Candidate]:
    inner = list(_inner_rates(case))
    if inner:
        yield from inner
        return
    of_values = case.cause not in ("learning_rate_divergence", "exploding_gradients")
    if of_values and case.origin.step == 0:
        return  # no update has been made yet
    if of_values and not _grew(case):
        return  # nothing shows that it is the training that diverges
    exploding = case.cause == "exploding_gradients"
    lower, clipped, slower = list(_lower_rates(case)), list(_clipping(case)), list(warm_up(case))
    yield from (*clipped, *lower) if exploding else (*lower[:2], *slower, *lower[2:], *clipped)


def _grew(case: Case) -> bool:
    """Loss, gradients or weights grew from step to step before it failed, as was measured."""
    steps = case.finding.history
    for name in ("loss", "gradient_norm", "largest_parameter"):
        values = [abs(v) for step in steps if (v := getattr(step, name)) is not None]
        values = [v for v in values if math.isfinite(v)]
        if len(values) >= 3 and values[-1] > GROWN * max(statistics.median(values[:-1]), 1e-12):
            return True
    return False


def _lower_rates(case: Case) -> Iterator[Candidate]:
    given = [(s, made.argument(1, "lr")) for s, made in optimizers(case)]
    given = [(s, node) for s, node in given if node is not None]
    found = [settings.number(case, s, node) for s, node in given]
    found = [rate for rate in found if rate is not None] or list(_rates_by_hand(case))
    rates = {(source.path, source.span(node)): rate for rate in found for source, node, _ in [rate]}
    for divisor in (10, 100, 1000, 10000):
        edits = [s.edit(node, written(value / divisor)) for s, node, value in rates.values()]
        if not edits:  # computed: what comes of it is divided
            edits = [s.edit(node, f"{primary(s, node)} / {divisor}") for s, node in given]
        if edits:
            yield Candidate(
                "lower_learning_rate",
                f"the training diverges at this learning rate: it is divided by {divisor}.",
                edits,
                changes_training=True,
            )


def _inner_rates(case: Case) -> Iterator[Candidate]:
    """`p - inner_lr * g` made what overflows: the rate of that update, not of the optimizer."""
    if case.cause != "learning_rate_divergence" or _grew(case):
        return
    for maker in case.finding.makers:
        source = case.file(maker.site.file) if maker.site.file else None
        update = read(source, find(source, maker.site)) if source is not None else None
        if maker.links_back or update is None or update.name not in ("sub", "add"):
            continue
        product = pure(source, update.operands[-1], "mul")
        factors = product.operands if product is not None else []
        rates = [settings.number(case, source, node) for node in factors]
        for where, literal, value in (rate for rate in rates if rate is not None):
            for divisor in (10, 100):
                yield Candidate(
                    "lower_learning_rate",
                    f"the updates inside a step diverge at this rate: it is divided by {divisor}.",
                    [where.edit(literal, written(value / divisor))],
                    changes_training=True,
                )
        return


def _rates_by_hand(case: Case) -> Iterator[tuple[SourceFile, cst.BaseExpression, float]]:
    for name in ("lr", "learning_rate", "LR", "step_size", "eta"):
        found = settings.named(case, name)
        if found is not None:
            yield found
            return


def _clipping(case: Case) -> Iterator[Candidate]:
    """clip_grad_norm_ in front of the step of each optimizer."""
    edits, names = [], dict(_targets(case))
    for source in case.sources:
        for node in source.nodes():
            if not isinstance(node, cst.Call) or not dotted(node.func).endswith(".step"):
                continue
            name = dotted(node.func).removesuffix(".step")
            statement = statement_of(source, node)
            if name not in names or statement is None or is_module(source, node.func):
                continue
            begin = source.span(statement)[0]
            small = next(s for s in statement.body if source.holds(s, node))
            if small is not statement.body[0]:
                begin = source.span(small)[0]
            clip = (
                "torch.nn.utils.clip_grad_norm_("
                f'[p for group in {name}.param_groups for p in group["params"]], max_norm=1.0)'
            )
            at_start = starts_line(source, statement) and begin == source.span(statement)[0]
            gap = f"{source.newline}{indentation(source, statement)}" if at_start else "; "
            edits.append(Edit(source.path, begin, begin, clip + gap))
    if edits:
        yield Candidate(
            "clip_gradients",
            "gradients grow without bound: their norm is kept at 1 before each step.",
            edits,
            changes_training=True,
        )


def _targets(case: Case) -> Iterator[tuple[str, Operation]]:
    """Names of optimizers."""
    for source, made in optimizers(case):
        parent = source.parent(made.node)
        if isinstance(parent, cst.Assign):
            yield dotted(parent.targets[0].target), made
