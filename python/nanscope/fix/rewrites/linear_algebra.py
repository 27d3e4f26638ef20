"""Matrices that are singular, or not positive definite."""

from __future__ import annotations

from collections.abc import Iterator

from nanscope.fix.candidate import Candidate
from nanscope.fix.case import Case
from nanscope.fix.operation import primary

NAMES = {"inv", "inverse", "cholesky", "solve", "logdet", "slogdet", "det", "eigh", "svd"}
JITTER = {"float64": "1e-10", "float32": "1e-6"}


def propose(case: Case) -> Iterator[Candidate]:
    operation = case.operation
    if operation is None or operation.name not in NAMES or not operation.operands:
        return
    matrix = operation.operands[0]
    inner = primary(case.source, matrix)
    jitter = JITTER.get(case.dtype, "1e-6")
    code = f"{inner} + {jitter} * torch.eye({inner}.shape[-1], dtype={inner}.dtype)"
    yield Candidate(
        "jitter_on_diagonal",
        "the matrix is singular: a small number is added to its diagonal.",
        [case.source.edit(matrix, code)],
    )
