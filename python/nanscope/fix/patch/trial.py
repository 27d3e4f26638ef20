"""Tries a candidate on the values that a finding keeps, before any run.

The failing elements and up to 32 healthy ones of each operand are put into the original and into
the patched expression. What raises, stays non-finite, changes a healthy value or makes an outlier
of a failing one is proposed by nobody.
"""

from __future__ import annotations

import ast
import importlib
import itertools
from collections.abc import Callable
from dataclasses import replace

from nanscope.findings import TensorFacts
from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.instrument import as_functions
from nanscope.fix.patch.operation import imported

TYPE_CHECKING = False
if TYPE_CHECKING:
    import torch

LIBRARIES = ("torch", "math", "numpy")
MOST = 40  # elements of an operand
ARGUMENTS = (("self", "input"), ("other", "exponent"))
COMPOSITE = {"kl_div", "log_prob", "kl_divergence", "entropy"}
SAVED = (("self",), ("other", "exponent"))


def problem(case: Case, candidate: Candidate) -> str:
    """Why the candidate cannot be right, as far as these values tell; empty if they do not."""
    complex_ones = any(tensor.dtype.startswith("complex") for tensor in case.finding.inputs)
    if not complex_ones and not any(tensor.healthy for tensor in case.finding.inputs):
        return ""
    functions = as_functions(case, candidate)
    if functions is None:
        return ""
    names, common, original, patched = functions
    given = [_values(case, code) for code in common]
    if any(value is None for value in given):
        return ""
    try:
        return _tried(case, candidate, names, given, original, patched)
    except Exception:
        return ""  # such values are not enough to compute it


def value_at_failure(case: Case, candidate: Candidate) -> float | None:
    """What the patched expression gives of the operands that failed."""
    import torch

    functions = as_functions(case, candidate)
    if functions is None or case.backward:
        return None
    names, common, _, patched = functions
    given = [_values(case, code) for code in common]
    if any(value is None for value in given):
        return None
    operands = [
        torch.tensor(value[0][:1], dtype=getattr(torch, value[1]))
        if isinstance(value, tuple)
        else value
        for value in given
    ]
    try:
        return float(eval(f"lambda {names}: {patched}", _modules(case))(*operands))
    except Exception:
        return None  # such values are not enough to compute it


def _tried(case: Case, candidate: Candidate, names: str, given: list, original, patched) -> str:
    import torch

    from nanscope.fix.run.probe import Probe
    from nanscope.fix.run.verify import judge_values

    known = _modules(case)
    functions = [eval(f"lambda {names}: {code}", known) for code in (original, patched)]
    length = max((len(value[0]) for value in given if isinstance(value, tuple)), default=1)
    values = [
        torch.tensor(
            list(itertools.islice(itertools.cycle(value[0]), length)),
            dtype=getattr(torch, value[1]),
        )
        if isinstance(value, tuple)
        else value
        for value in given
    ]
    if case.backward or case.finding.makers:
        for value in values:
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                value.requires_grad_()
    functions[0](*values)
    try:
        functions[1](*values)
    except Exception as error:
        return f"it raises {type(error).__name__}"
    probe = Probe(candidate.widens, case.backward)
    probe.compare(0, *functions, functions[1], *values)
    place = probe.place(0)
    if place.fault or not place.met:
        return ""
    # Whether it counts is for the run to show: here are a few values only.
    judgement = judge_values(case.finding, replace(candidate, count=""), place)
    if judgement is not None and judgement.status == "failed":
        return judgement.detail
    in_gradient = case.finding.harm is not None and case.finding.harm.kind == "gradient"
    return "its slope is not finite" if in_gradient and _is_steep(functions, values) else ""


def _is_steep(functions: list[Callable], values: list) -> bool:
    """Where the value is finite its slope is not: the run would meet it in the gradient. A healthy
    element that is as steep in the original does no harm there.
    """
    import torch

    (before, slopes_before), (result, slopes) = (_sloped(each, values) for each in functions)
    if result is None or not bool(torch.isfinite(result).all()):
        return False
    for number, slope in enumerate(slopes):
        if slope is None:
            continue
        steep = ~torch.isfinite(slope)
        was = slopes_before[number] if before is not None else None
        if was is not None and before.shape == slope.shape == was.shape:
            steep &= torch.isfinite(was) | ~torch.isfinite(before)
        if bool(steep.any()):
            return True
    return False


def _sloped(function: Callable, values: list) -> tuple[torch.Tensor | None, list]:
    import torch

    from nanscope.fix.run.values import copies, gradients

    given = copies(values)
    result = function(*given)
    if not isinstance(result, torch.Tensor):
        return None, []
    return result, gradients(result, given)


def _modules(case: Case) -> dict:
    """What the file calls torch, its parts and math."""
    found: dict = {}
    for name, full in imported(case.source).items():
        if full.partition(".")[0] in LIBRARIES:
            try:
                found[name] = importlib.import_module(full)
            except ImportError:
                home, _, last = full.rpartition(".")
                found[name] = getattr(importlib.import_module(home), last)
    found.setdefault("torch", importlib.import_module("torch"))
    return found


def _values(case: Case, code: str) -> tuple | float | None:
    """Values of an operand of the failing op, by its text: those that failed first."""
    wanted = _normal(code)
    operands = case.operation.operands if _is_the_op(case) else []
    of_op = SAVED if case.backward else ARGUMENTS  # a node's own arguments are gradients
    for node, arguments in zip(operands, of_op, strict=False):
        if _normal(case.source.bare(node)) != wanted:
            continue
        facts = case.saved(*arguments) if case.backward else case.input(*arguments)
        if facts is not None:
            return _elements(facts)
        return None if case.backward else case.number(arguments[0])
    facts = next((t for t in case.finding.inputs if _normal(t.name) == wanted), None)
    return _elements(facts) if facts is not None else None


def _is_the_op(case: Case) -> bool:
    """The expression is the very op that failed: the op inside `F.kl_div(a, b)` takes b first."""
    return case.operation is not None and case.operation.name not in COMPOSITE


def _elements(facts: TensorFacts) -> tuple[list, str] | None:
    values = [*facts.at_index, *facts.healthy][:MOST]
    known = values and all(isinstance(v, int | float | complex) for v in values)
    return (values, facts.dtype) if known else None


def _normal(code: str) -> str:
    try:
        return ast.unparse(ast.parse(f"({code}\n)", mode="eval"))
    except SyntaxError:
        return code
