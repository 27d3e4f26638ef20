"""Candidates for a finding: those of its cause, least change to healthy values first."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace

import libcst as cst

from nanscope.fix.patch import trial
from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.comments import with_comments
from nanscope.fix.patch.imports import with_torch
from nanscope.fix.patch.instrument import patched
from nanscope.fix.rewrites import (
    bessel,
    binary,
    by_hand,
    compiled,
    constants,
    ctc,
    data,
    discarded,
    distances,
    division,
    exponential,
    float8,
    fused,
    half,
    in_place,
    initialisation,
    library,
    linear_algebra,
    logarithm,
    loss_modules,
    loss_scale,
    memory,
    norms,
    of_numpy,
    optimizer,
    overflow,
    precise,
    products,
    reductions,
    roots,
    softmax,
    training,
    trigonometry,
    upcast,
    variance,
    workaround,
    zero_setting,
)

# What computes the same without the overflow is right whatever made the values large.
SAME_VALUES = (
    precise.of_overflow, fused.around, bessel.around, exponential.normalised, exponential.tangent,
    by_hand.sigmoid, by_hand.tangent, by_hand.log_cosh,
)  # fmt: skip
# Of each cause, what may help, in this order. Each looks at the expression by itself, so that one
# that does not fit proposes nothing.
RULES = {
    "division_by_zero": (
        division.angle, products.of_ratio, norms.as_normalize, optimizer.first_step, precise,
        zero_setting, division, reductions, initialisation,
    ),
    "log_of_zero": (in_place, products.of_ratio, logarithm, in_place.at_last),
    "log_of_negative": (in_place, logarithm, in_place.at_last),
    "cancellation": (variance, distances, precise, fused, roots, division, reductions, optimizer),
    "sqrt_of_negative": (
        in_place, variance, distances, roots, division, optimizer, in_place.at_last,
    ),
    "sqrt_gradient_at_zero": (distances, precise, discarded.of_where, roots, norms),
    "norm_gradient_at_zero": (discarded.of_where, norms, roots),
    "pow_domain": (
        in_place, discarded.of_where, products.as_geometric_mean, division, roots,
        in_place.at_last,
    ),
    "where_gradient_leak": (
        half.of_leak, discarded, division, logarithm, roots, exponential.normalised, exponential,
        trigonometry,
    ),
    "exp_overflow": (in_place, *SAME_VALUES, exponential, training, in_place.at_last),
    "float_overflow": (
        in_place, *SAME_VALUES, loss_scale.of_loss, training, exponential, upcast.scaled,
        overflow.of_quotient, overflow, in_place.at_last,
    ),
    "half_overflow": (loss_scale.of_loss, binary, half),
    "eight_bit_overflow": (float8,),
    "loss_scale_runaway": (loss_scale,),
    "eps_underflow": (half.guard, roots, logarithm, division),
    "all_masked_softmax": (softmax,),
    "inf_minus_inf": (softmax, logarithm, constants),
    "zero_times_inf": (products, constants),
    "empty_reduction": (reductions, loss_modules),
    "bad_input_data": (ctc, data.of_reader, data, constants, logarithm, division),
    "learning_rate_divergence": (*SAME_VALUES, training),
    "exploding_gradients": (*SAME_VALUES, training),
    "bad_initialisation": (initialisation, division, training),
    "optimizer_division_by_zero": (optimizer.first_step, optimizer, division, roots),
    "uninitialised_memory": (memory,),
    "inverse_trig_domain": (trigonometry,),
    "special_function_domain": (trigonometry,),
    "nan_constant": (constants, data),
    "compiled_only": (compiled,),
    "singular_matrix": (linear_algebra,),
    "degenerate_decomposition": (linear_algebra,),
}  # fmt: skip
ANY = (
    division, logarithm, roots, exponential.normalised, exponential, trigonometry, softmax,
    reductions, ctc, memory,
)  # fmt: skip
ADVICE = {
    "loss_scale_runaway": "The gradients overflow at every scale: run once without scaling to see "
    "where.",
    "received_from_rank": "It came from another rank: what is to be patched stands there.",
    "overflow_in_reduction": "Divide by the number of ranks before the sum, or sum in float32.",
    "special_function_domain": "What goes in reaches a pole of the function: look at what it is "
    "computed of.",
    "unwatched_kernel": "The kernel that made it could not be watched; look at what goes into it.",
}


def candidates(case: Case) -> list[Candidate]:
    """Best first; those that hide the fault last."""
    return sorted(_sound_ones(case), key=lambda c: c.workaround)


def in_package(case: Case) -> tuple[Case, list[Candidate]] | None:
    """Where the op stands inside a package: changes of the package itself."""
    site = case.origin.library_site
    if site is None or not site.code or not is_package(case, site.file):
        return None
    origin = replace(case.origin, site=site, library_site=None)
    inner = Case(replace(case.finding, origin=origin), dict(case.files), case.folder)
    inner.given = case.given
    found = [c for c in candidates(inner) if not c.workaround and not c.changes_training]
    return (inner, found) if found else None


def is_package(case: Case, file: str) -> bool:
    """Not torch itself, which nobody patches."""
    parts = os.path.realpath(os.path.join(case.folder, file)).split(os.sep)
    return "torch" not in parts[:-1] and file.endswith(".py")


def first(case: Case) -> Candidate | None:
    """The best, if it does not hide the fault."""
    return next((c for c in _sound_ones(case) if not c.workaround), None)


def _sound_ones(case: Case) -> Iterator[Candidate]:
    if case.is_other_text:
        return
    seen: set[tuple] = set()
    for rule in _rules(case):
        propose = getattr(rule, "propose", rule)
        for candidate in propose(case):
            candidate = with_comments(case.files, with_torch(case.files, candidate))
            candidate = _called_what_it_is(case, candidate)
            edits = tuple(sorted((e.path, e.begin, e.end, e.text) for e in candidate.edits))
            key = edits, candidate.alters
            if key in seen or not is_sound(case, candidate):
                continue
            seen.add(key)
            if not trial.problem(case, candidate):
                yield candidate


def _called_what_it_is(case: Case, candidate: Candidate) -> Candidate:
    """A bound that is no repair: the weight stays where training took it, or the value is lost."""
    known = (one.exactly for one in case.finding.cause.experiments)
    exactly = next((value for value in known if value is not None), None)
    given = trial.value_at_failure(case, candidate) if exactly is not None else None
    if given is not None and abs(given - exactly) > max(0.1 * abs(exactly), 1e-3):
        note = f" The right value is {exactly:g}, and this gives {given:g}: the digits stay lost."
        return replace(candidate, workaround=True, explanation=candidate.explanation + note)
    facts = case.operand("self")
    beyond = facts is not None and any(isinstance(x, float) and x < 0 for x in facts.at_index)
    if not (beyond and facts.parameter and candidate.id.startswith("clamp_before_")):
        return candidate
    note = (
        " The weight itself stays where it is, and gets no gradient from here. A weight that has "
        "to be positive is kept as its logarithm, or goes through softplus, where it is made."
    )
    return replace(candidate, workaround=True, explanation=candidate.explanation + note)


def _rules(case: Case) -> Iterable:
    """Those of the cause, and then of what it showed as; what NumPy made has its own."""
    if case.origin.op.startswith("numpy::"):
        return (of_numpy,)
    others = [other.id for other in case.finding.cause.others if other.shows]
    more = [rule for other in others for rule in RULES.get(other, ())]
    return dict.fromkeys((*RULES.get(case.cause, ANY), *more, library, workaround))


def is_sound(case: Case, candidate: Candidate) -> bool:
    """It changes something, and what comes out is Python."""
    try:
        files = patched(case.files, candidate)
        for source in files.values():
            if not source.is_python:
                continue
            compile(source.data, source.path, "exec", dont_inherit=True)
            cst.parse_module(source.text)
    except (SyntaxError, ValueError, cst.ParserSyntaxError):
        return False
    return any(source.text != case.files[path].text for path, source in files.items())


def advice(case: Case) -> str:
    """Where no patch fits: what to look at."""
    site = case.origin.site
    if case.is_other_text or (site.code and case.source is not None and case.node is None):
        return f"{site.file}:{site.line} is not the text that ran: run the program again."
    if case.cause in ADVICE:
        return ADVICE[case.cause]
    if case.cause == "log_of_zero" and logarithm.underflows(case):
        return (
            "Healthy values come down to the end of the type: compute in log space (`logsumexp`)."
        )
    if case.origin.library_site is not None and isinstance(case.node, cst.Call | None):
        return library.advice(case)
    return f"`nanscope explain {case.cause}` tells what usually helps."
