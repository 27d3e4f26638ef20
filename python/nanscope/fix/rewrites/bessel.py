"""Bessel functions that grow as exp does: their logarithm, and quotients of them."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch.candidate import Candidate, Comparison
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.operation import Operation, alone, argument, primary, pure
from nanscope.fix.patch.source_file import SourceFile
from nanscope.fix.rewrites.scope import may_run_twice, value_of

GROWING = ("i0", "i1")


def around(case: Case) -> Iterator[Candidate]:
    """`log(i0(x))` is `log(i0e(x)) + |x|`; in `i1(x) / i0(x)` the scale cancels."""
    source, bessel = case.source, pure(case.source, case.node, *GROWING)
    if bessel is None or len(bessel.operands) != 1:
        return
    for outer in source.parents(case.node):
        if not isinstance(outer, cst.BaseExpression):
            continue
        log = pure(source, outer, "log")
        if log is not None and log.operands == [case.node]:
            yield _logarithm(source, bessel, outer)
        quotient = pure(source, outer, "div")
        if quotient is not None and len(quotient.operands) == 2:
            yield from _quotient(source, quotient)
        return


def _logarithm(source: SourceFile, bessel: Operation, node: cst.BaseExpression) -> Candidate:
    x = bessel.operands[0]
    scaled = f"torch.special.{bessel.name}e({argument(source, x)})"
    code = alone(source, node, f"torch.log({scaled}) + {primary(source, x)}.abs()")
    name = bessel.name
    why = f"{name} grows as exp does; {name}e is without that, and the logarithm adds it."
    return _in_place_of(source, node, code, f"log_of_{bessel.name}e", why)


def _quotient(source: SourceFile, quotient: Operation) -> Iterator[Candidate]:
    sides = [pure(source, value_of(source, side), *GROWING) for side in quotient.operands]
    if None in sides or any(len(side.operands) != 1 for side in sides):
        return
    arguments = [argument(source, side.operands[0]) for side in sides]
    same = arguments[0] == arguments[1] and may_run_twice(source, sides[0].operands[0])
    if not same or quotient.keywords:
        return
    above, below = (f"torch.special.{side.name}e({arguments[0]})" for side in sides)
    code = alone(source, quotient.node, f"{above} / {below}")
    why = "both grow as exp does, which cancels: the scaled functions have the same quotient."
    yield _in_place_of(source, quotient.node, code, "scaled_bessel", why)


def _in_place_of(
    source: SourceFile, node: cst.BaseExpression, code: str, name: str, why: str
) -> Candidate:
    before = source.code(node)
    compare = Comparison(source.path, *source.whole_span(node), before, code)
    return Candidate(name, why, [source.edit(node, code)], equal=True, compare=compare)
