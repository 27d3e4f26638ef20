"""Optimizers whose update divides by zero, or takes a root of what rounding made negative."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.case import NARROW, Case, written
from nanscope.fix.patch.operation import dotted, is_one, pure, read
from nanscope.fix.patch.source_file import SourceFile
from nanscope.fix.rewrites import division, settings
from nanscope.fix.rewrites.scope import OPTIMIZERS, nodes_in, scope_of, value_of


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


def first_step(case: Case) -> Iterator[Candidate]:
    """`m / (1 - beta ** t)` at t = 0: the step is counted behind it, and has to be before."""
    source, divisor = case.source, division.divisor_of(case.operation)
    facts = case.operand("other")
    is_zero = case.number("other") == 0 or facts is not None and facts.at_index[:1] == [0]
    if divisor is None or not is_zero:
        return
    power = _power_of_step(source, divisor)
    if power is None:
        return
    step, scope = source.code(power.right), scope_of(source, case.node)
    edits = [
        source.edit(node.right, f"({step} + 1)")
        for node in nodes_in(source, scope)
        if isinstance(node, cst.BinaryOperation)
        and isinstance(node.operator, cst.Power)
        and source.code(node.right) == step
    ]
    yield Candidate(
        "count_the_step_first",
        f"`{step}` is 0 in the first step, where nothing has been averaged yet and the correction "
        f"divides by 0: steps are counted from 1. (Or count `{step}` up before it is used.)",
        edits,
        changes_training=True,
        alters="the step is counted from 1",
    )


def _power_of_step(source: SourceFile, node: cst.BaseExpression) -> cst.BinaryOperation | None:
    """`beta ** t` of `1 - beta ** t`, of `torch.tensor(1 - beta ** t)`."""
    node = value_of(source, node)
    as_tensor = pure(source, node, "tensor", "as_tensor")
    difference = read(source, value_of(source, as_tensor.operands[0]) if as_tensor else node)
    if difference is None or difference.name != "sub" or not is_one(difference.operands[0]):
        return None
    power = value_of(source, difference.operands[1])
    is_power = isinstance(power, cst.BinaryOperation) and isinstance(power.operator, cst.Power)
    is_name = is_power and isinstance(power.right, cst.Name | cst.Attribute | cst.Subscript)
    return power if is_name else None


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
