"""Matrices that are singular, or not positive definite."""

from __future__ import annotations

import math
from collections.abc import Iterator

import libcst as cst

from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.case import Case, written
from nanscope.fix.patch.operation import alone, primary
from nanscope.fix.rewrites.scope import may_run_twice

NAMES = {"inv", "inverse", "cholesky", "solve", "logdet", "slogdet", "det", "eigh", "svd"}
SPREAD = {"float64": ("1e-10", "1e-8", "1e-6"), "float32": ("1e-6", "1e-5")}
JITTER = {"float64": 1e-10, "float32": 1e-6}


def propose(case: Case) -> Iterator[Candidate]:
    operation = case.operation
    if operation is None or operation.name not in NAMES or not operation.operands:
        return
    matrix = operation.operands[0]
    if not may_run_twice(case.source, matrix):
        return
    inner = primary(case.source, matrix)
    if case.cause == "degenerate_decomposition":
        yield from _spread(case, matrix, inner)
        return
    for jitter in _jitters(case):
        code = f"{inner} + {jitter} * torch.eye({inner}.shape[-1], dtype={inner}.dtype)"
        yield Candidate(
            "jitter_on_diagonal",
            "the matrix is singular: a small number is added to its diagonal.",
            [case.source.edit(matrix, alone(case.source, matrix, code))],
            alters=f"{jitter} is added to the diagonal",
        )


def _jitters(case: Case) -> list[str]:
    """Small beside the elements of the matrix; larger ones, where the slope would be too steep."""
    least = JITTER.get(case.dtype, 1e-6)
    seen = [t for t in case.finding.inputs if len(t.shape) > 1 and t.max is not None]
    largest = max((max(abs(t.max), abs(t.min or 0.0)) for t in seen), default=1.0)
    if largest != 0 and not 0.1 <= largest <= 100:
        least *= 10.0 ** round(math.log10(largest))
    return [written(least), written(least * 10), written(least * 100)]


def _spread(case: Case, matrix: cst.BaseExpression, inner: str) -> Iterator[Candidate]:
    """Equal eigenvalues have no slope of their vectors: they are moved apart by a little."""
    for little in SPREAD.get(case.dtype, SPREAD["float32"]):
        steps = f"torch.linspace(0.0, {little}, {inner}.shape[-1], dtype={inner}.dtype)"
        code = f"{inner} + torch.eye(*{inner}.shape[-2:]) * {steps}"
        yield Candidate(
            "separate_values",
            "values that are equal have vectors without a slope: they are moved apart by "
            f"{little} at most.",
            [case.source.edit(matrix, alone(case.source, matrix, code))],
        )
