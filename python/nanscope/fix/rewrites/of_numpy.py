"""What NumPy computed before torch was given it: zero divisors, logarithms, roots, empty means."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.findings import TensorFacts
from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.case import Case, written
from nanscope.fix.patch.operation import Operation, alone, argument, imported
from nanscope.fix.rewrites import logarithm
from nanscope.fix.rewrites.counts import counts
from nanscope.fix.rewrites.scope import may_run_twice

EXPONENTIALS = {"exp": "80.0", "exp2": "100.0", "sinh": "80.0", "cosh": "80.0"}


def propose(case: Case) -> Iterator[Candidate]:
    operation = case.operation
    numpy = _name_of_numpy(case)
    if operation is None or not operation.operands or operation.keywords.keys() & {"out", "where"}:
        return
    if operation.name == "div" and len(operation.operands) == 2:
        yield from _divided(case, operation, numpy)
    elif numpy and operation.form == "function" and operation.name in logarithm.PLAIN:
        yield from _logarithm(case, operation, numpy)
    elif numpy and operation.form == "function" and operation.name == "sqrt":
        first = operation.operands[0]
        yield _kept(
            case, first, f"{numpy}.maximum({{}}, 0.0)", "maximum_before_sqrt", "0.0 or more"
        )
    elif numpy and operation.form == "function" and operation.name in EXPONENTIALS:
        most = EXPONENTIALS[operation.name]
        code = f"{numpy}.minimum({{}}, {most})"
        yield _kept(case, operation.operands[0], code, "minimum_before_exp", f"{most} or less")
    elif operation.name == "mean":
        yield from _of_nothing(case, operation)


def _name_of_numpy(case: Case) -> str:
    """What the file calls it: `np`."""
    if case.source is None:
        return ""
    return next((name for name, full in imported(case.source).items() if full == "numpy"), "")


def _divided(case: Case, operation: Operation, numpy: str) -> Iterator[Candidate]:
    """A column that never changes has no spread: over 1 it stays as it is."""
    source, divisor = case.source, operation.operands[1]
    facts = case.input("other")
    if not may_run_twice(source, divisor) and not _is_number(facts):
        return
    code, shown = argument(source, divisor), source.shown(divisor)
    if _is_number(facts):
        yield Candidate(
            "one_for_zero_divisor",
            f"{shown} can be 0: 1 is divided by then, all else is kept.",
            [source.edit(divisor, f"({code} or 1.0)")],
        )
    elif numpy and counts(source, divisor):
        why = f"{shown} counts, and nothing may be counted: at least 1 is divided by."
        edit = source.edit(divisor, f"{numpy}.maximum({code}, 1)")
        yield Candidate("maximum_of_divisor_and_one", why, [edit])
    elif numpy:
        yield Candidate(
            "one_for_zero_divisor",
            f"{shown} can be 0: there 1 is divided by, all else is kept.",
            [source.edit(divisor, f"{numpy}.where({code} == 0, 1.0, {code})")],
        )


def _logarithm(case: Case, operation: Operation, numpy: str) -> Iterator[Candidate]:
    operand = operation.operands[0]
    least = "1" if counts(case.source, operand) else written(case.small(case.input("self")))
    code = f"{numpy}.maximum({{}}, {least})"
    yield _kept(case, operand, code, "maximum_before_log", f"{least} or more")


def _kept(case: Case, operand: cst.BaseExpression, code: str, name: str, where: str) -> Candidate:
    source = case.source
    return Candidate(
        name,
        f"{source.shown(operand)} is kept at {where}, where NumPy has a finite value.",
        [source.edit(operand, code.format(argument(source, operand)))],
    )


def _of_nothing(case: Case, operation: Operation) -> Iterator[Candidate]:
    """`np.mean(xs)` of an empty list; with an axis the result is no number."""
    source, operand = case.source, operation.operands[0]
    if len(operation.operands) > 1 or operation.keywords or not may_run_twice(source, operand):
        return
    given = f"{source.code(operation.node)} if len({argument(source, operand)}) else 0.0"
    yield Candidate(
        "zero_for_nothing",
        f"{source.shown(operand)} can be empty, and the mean of nothing is NaN: it is 0 then. "
        "Better still, do without it where there is nothing.",
        [source.edit(operation.node, alone(source, operation.node, given))],
        workaround=True,
        hides=True,
    )


def _is_number(facts: TensorFacts | None) -> bool:
    return facts is not None and not facts.shape
