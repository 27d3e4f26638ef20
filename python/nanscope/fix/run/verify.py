"""Judges what a run with a patch showed: verified, failed or inconclusive, and why.

The letters are those of docs/fix.md.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeGuard

from nanscope.findings import Finding, Verification
from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.instrument import COMPARED, RAN
from nanscope.fix.run.messages import Answer, Place
from nanscope.fix.run.probe import NEARLY
from nanscope.fix.run.runs import Run

ABSURD = 1e3  # a loss so many times the largest healthy one is none
OUTLIER = 100  # a mended element so many times the largest healthy one
STEEP = 1e5  # the same of its slope: torch's own guards (F.normalize) are steep, too
MENDED = 0.01  # how far, relative, a mended element may take the loss that it is part of
MOST_DRIFT = 0.02  # of a loss, after however many steps
WRONG = 0.02  # how far, relative, a mended value may be from one that float64 knows
FIRST = 3
NOT_EXERCISED = (
    "what failed is mended, but no healthy value went through the patched expression and none "
    "could be made: what it does to one was not seen"
)
HIDES = "it hides the fault: nothing shows that what it puts in is right"
OURS = "_common"  # begins the names that measuring calls give to values
MEASURING = "__nanscope__"


@dataclass
class Judgement:
    status: str
    detail: str
    steps: int = 0
    losses_same: bool | None = None
    checks: list[str] = field(default_factory=list)
    other_fault: bool = False  # all that this patch is for holds, and the next fault shows

    def verification(self) -> Verification:
        return Verification(self.status, self.steps, self.losses_same, self.detail, self.checks)


def judge(
    finding: Finding,
    candidate: Candidate,
    baseline: Run,
    patched: Run,
    is_elsewhere: Callable[[Finding], bool] = lambda _: False,
) -> Judgement:
    """Judges a patched run beside `baseline`: the program as it is, run on past `finding`.

    `is_elsewhere` says whether an error stands at another place than `finding`, whatever its text.
    """
    answer = patched.answer
    if answer is None:
        return _failed(f"the program did not come to its end: {_why(patched)}")
    place = answer.places.get(COMPARED)
    checks: list[str] = []
    result = _Judge(finding, candidate, baseline.answer, answer, place, checks, is_elsewhere)
    judgement = result.judge()
    judgement.steps = answer.log.steps
    judgement.losses_same = result.losses_same
    judgement.checks = checks
    return judgement


def judge_values(finding: Finding, candidate: Candidate, place: Place) -> Judgement | None:
    """Judges what was measured at the expression alone; None: nothing speaks against it."""
    return _Judge(finding, candidate, None, None, place, []).values()


def _failed(detail: str) -> Judgement:
    return Judgement("failed", detail)


def _why(run: Run) -> str:
    if run.status == -9:
        return "it took too long"
    return run.last_words or f"status {run.status}"


@dataclass
class _Judge:
    finding: Finding
    candidate: Candidate
    before: Answer | None  # None: there was no run
    after: Answer | None
    place: Place | None  # where original and patched expression were compared
    checks: list[str]
    is_elsewhere: Callable[[Finding], bool] = lambda _: False
    losses_same: bool | None = None

    def judge(self) -> Judgement:
        error = next(iter(_findings(self.after, "error")), None)
        other = error is not None and not self._is_same(error)
        if error is not None and not other:
            return _failed(f"the fault is still there: {self._described(error)}")
        steps = [self.values, self._condition, self._losses]
        if not other:
            steps += [self._warnings, self._ending, self._sanity]
        for step in steps:
            problem = step()
            if problem is not None and problem.status == "inconclusive" and not other:
                return self._ending() or problem  # what breaks the program is not undecided
            if problem is not None:
                return problem
        if other:
            judgement = _failed(f"another fault follows: {_place_of(error)}")
            judgement.other_fault = True
            return judgement
        if self.candidate.hides:
            return Judgement("inconclusive", HIDES)
        if self._is_unexercised():
            return Judgement("not_exercised", NOT_EXERCISED)
        return Judgement("verified", self._summary())

    def _is_unexercised(self) -> bool:
        """Nothing was compared: then healthy losses that it kept, or makes, must speak for it."""
        if self.place is not None or self.candidate.changes_training or self.losses_same:
            return False
        if not self.candidate.is_value:
            # Of memory that nobody wrote no value is healthy.
            return self.candidate.losses_must_be_kept
        return not (self.candidate.fires and _finite(self.after.log.losses))

    def _is_same(self, error: Finding) -> bool:
        """Whether the error is one of the patched expression itself: it did not help."""
        site, first = error.origin.site, self.finding.origin.site
        if site.file != first.file:
            return False
        if _is_measured(site.code):
            return True
        same = (site.code, site.function) == (first.code, first.function)
        return same and not self.is_elsewhere(error)

    def _described(self, error: Finding) -> str:
        """Speaks in the words of the program: those of our measuring calls are not the user's."""
        if OURS not in error.cause.sentence and MEASURING not in error.cause.sentence:
            return _place_of(error)
        site = self.finding.origin.site
        code = " ".join(site.code.split())
        return f"{site.file}:{site.line}: {error.cause.id}{_where(error)} at `{code}`"

    # ------------------------------------ (a) is what broke it met again?
    def _condition(self) -> Judgement | None:
        if self.candidate.fires:
            fired = sum(place.met for place in self.after.places.values())
            if not fired:
                return Judgement("inconclusive", "the guard was never needed in the repeat")
            self.checks.append(f"the guard was needed {_times(fired)}")
            return None
        if self.place is None:
            if not self.candidate.changes_training and not self._ran_past():
                return Judgement("inconclusive", "the patched expression did not run")
            return None
        if self.place.compared == 0:
            why = self.place.fault or "it did not run"
            return Judgement("inconclusive", f"the patched expression could not be compared: {why}")
        if self.place.met == 0:
            detail = "the patched expression never met what broke the original"
            return Judgement("inconclusive", detail)
        self.checks.append(
            f"the patched expression ran {_times(self.place.ran)}; the original would have "
            f"failed {_times(self.place.met)}"
        )
        return None

    def _ran_past(self) -> bool:
        place = self.after.places.get(RAN)
        return place is not None and place.ran > 0

    # ------------------------------------ (b), (c) are healthy values and gradients kept?
    def values(self) -> Judgement | None:
        place = self.place
        if place is None or place.compared == 0:
            return None
        if place.mismatch:
            return _failed(place.mismatch)
        if place.still_bad:
            return _failed("the patched expression is not finite either")
        nearly = self._nearly()
        if place.largest_difference > nearly and not self.candidate.alters:
            return _failed(
                "values that were healthy changed by a relative "
                f"{place.largest_difference:.1e}, above {nearly:.0e}"
            )
        if place.gradient_lost and not place.gradient_kept:
            return _failed("gradients that were not zero became zero")
        problem = self._mended() or self._exercised()
        if problem is not None:
            return problem
        if not place.healthy:
            pass
        elif place.identical:
            self.checks.append("healthy values are the same, bit for bit")
        elif place.largest_difference > nearly:
            self.checks.append(
                f"healthy values change by a relative {place.largest_difference:.1e} at most: "
                f"{self.candidate.alters}"
            )
        else:
            self.checks.append(
                f"healthy values differ by a relative {place.largest_difference:.1e} at most"
            )
        if place.regained:
            self.checks.append(
                f"{_plural(place.regained, 'value')} had lost digits by rounding (a relative "
                f"{place.lost_by_rounding:.1e} at most) and now agree with the same in float64"
            )
        return None

    def _mended(self) -> Judgement | None:
        """The elements that failed: right where float64 knows it, and no outliers."""
        place = self.place
        if self.candidate.count and (place.fractional or place.counted < 2):
            return _failed(f"`{self.candidate.count}` was not seen to be a count")
        if place.known_off > WRONG:
            return _failed(
                f"where the original fails, it is {place.known_right:g} in float64, and the patch "
                f"makes it {place.known_given:g}"
            )
        if place.known:
            self.checks.append(
                f"{_plural(place.known, 'value')} that failed now {_agree(place.known)} with the "
                "same in float64"
            )
        if place.limit_off > WRONG:
            return _failed(
                f"near what failed the original comes to {place.limit_right:g}, whichever way, and "
                f"the patch makes it {place.limit_given:g}"
            )
        is_large = self.finding is not None and self.finding.cause.id.endswith("overflow")
        if self.candidate.equal:
            return None
        if not is_large and 0 < place.healthy_value * OUTLIER < place.mended_value:
            return _failed(
                f"what failed becomes {place.mended_value:.1e}, and healthy values are "
                f"{place.healthy_value:.1e} at most"
            )
        if 0 < place.healthy_slope * STEEP < place.mended_slope:
            return _failed(
                f"what failed gets a slope of {place.mended_slope:.1e}, and slopes of healthy "
                f"values are {place.healthy_slope:.1e} at most"
            )
        return None

    def _exercised(self) -> Judgement | None:
        """Healthy values went through the patched expression, or were made and put through it."""
        place = self.place
        if place.moved and (place.moved_by_number or not place.healthy):
            if not self.candidate.alters:
                what = "another number" if place.moved_by_number else "a healthy value"
                return _failed(
                    f"{what} that it could be given is changed: {place.moved_from} becomes "
                    f"{place.moved_to}"
                )
        if place.healthy or place.known:
            return None
        if not place.made:
            return Judgement("not_exercised", NOT_EXERCISED)
        self.checks.append(
            f"no healthy value went through it; of those near what it met, {place.made:,} were "
            "made, and it keeps them"
        )
        return None

    def _nearly(self) -> float:
        """Where a type is widened, one unit in the last place of the narrow one is rounding."""
        return max(NEARLY, self.place.last_digit if self.place else 0.0)

    # ------------------------------------ (e) are losses before the failure kept?
    def _losses(self) -> Judgement | None:
        old = self.before.log.losses[: self._healthy_losses()]
        new = self.after.log.losses[: len(old)]
        steps = self.before.log.loss_steps
        pairs = [(a, b, s) for a, b, s in zip(old, new, steps, strict=False) if _is_finite(a)]
        if self.candidate.changes_training or self.candidate.alters or not pairs:
            return None
        differences = [_relative(a, b) for a, b, _ in pairs]
        worst = max(differences)
        # Digits that a patch brings back, or rounds otherwise, grow from step to step.
        rounded = self.place is not None and self.place.compared and not self.place.identical
        allowed = [self._nearly() * (1 + i if rounded else 1) for i in range(len(pairs))]
        # A fault in backward leaves the loss of its step finite, and what is mended is part of it.
        if self.finding.origin.phase == "backward":
            failing = self.finding.origin.step
            allowed = [
                max(most, MENDED) if step == failing else most
                for most, (_, _, step) in zip(allowed, pairs, strict=True)
            ]
        beyond = [i for i, d in enumerate(differences) if d > min(allowed[i], MOST_DRIFT)]
        if beyond and self.place is not None and self.place.regained:
            # Each value that changed agrees with float64: it is the old losses that were off.
            self.checks.append(
                f"losses before the failure change by a relative {worst:.1e} at most: digits were "
                "lost in them, too"
            )
            return None
        self.losses_same = not beyond
        if not self.losses_same:
            old_loss, new_loss, _ = pairs[beyond[0]]
            return _failed(
                f"the loss of step {beyond[0]}, before the failure, became {new_loss} "
                f"instead of {old_loss:g}"
            )
        same = "the same" if worst == 0 else f"within a relative {worst:.1e}"
        count = f"{len(pairs):,} losses" if len(pairs) > 1 else "the loss"
        verb = "are" if len(pairs) > 1 else "is"
        self.checks.append(f"{count} before the failure {verb} {same}")
        return None

    def _healthy_losses(self) -> int | None:
        """Counts the losses that came before the failure; None: all. A loss that is finite though
        the fault is on its way to it counts, unless the fault made it zero.
        """
        harm = self.finding.harm
        if harm is not None and harm.kind != "collapsed":
            return self.before.log.losses_at_error
        return sum(s < self.finding.origin.step for s in self.before.log.loss_steps)

    # ------------------------------------ (d), (f) does it warn of nothing new, and end well?
    def _warnings(self) -> Judgement | None:
        known = {_key(f) for f in _findings(self.before, "warning")}
        new = [f for f in _findings(self.after, "warning") if _key(f) not in known]
        if new:
            cause = new[0].cause
            return _failed(f"a new warning: {cause.id}: {cause.sentence}")
        self.checks.append("nothing non-finite did harm, and there is no new warning")
        return None

    def _ending(self) -> Judgement | None:
        answer, after, before = self.after, self.after.log, self.before.log
        done = f"{len(after.losses)} of {len(before.losses)} backward calls"
        if not after.reached_limit:
            if answer.ended == "exception":
                return _failed(f"the program ends with {answer.exception or 'an exception'}")
            if answer.status != 0:
                return _failed(f"the program ends with status {answer.status}")
            short = after.steps < before.steps and not before.reached_limit
            if short or len(after.losses) < len(before.losses):
                return _failed(f"the program ends earlier than before: {done}")
        ended = "at the limit" if after.reached_limit else "as it should"
        self.checks.append(f"{_plural(after.steps, 'step')} done; it ended {ended}")
        return None

    # ------------------------------------ is the training still one?
    def _sanity(self) -> Judgement | None:
        count = self._healthy_losses() or 0
        healthy = [abs(x) for x in _finite(self.before.log.losses[:count])]
        later = _finite(self.after.log.losses[count:])
        lost = set(self.after.log.without_gradient) - set(self.before.log.without_gradient)
        # Of a patched expression the gradient itself was compared; it may well be 0 here.
        if lost and self.place is None:
            return _failed(f"no gradient reaches the parameters in step {min(lost)}")
        if self.candidate.changes_training:
            return None if self.candidate.scales_loss else self._still_diverges()
        if healthy and max(healthy) > 0 and later:
            largest = max(abs(x) for x in later[:FIRST])
            if largest > ABSURD * max(healthy):
                return _failed(f"the loss becomes {largest:.1e}; it was at most {max(healthy):.1e}")
            if all(x == 0 for x in later) and min(healthy) > 0:
                return _failed("the loss is 0 from the failing step on")
        return None

    def _still_diverges(self) -> Judgement | None:
        losses = _finite(self.after.log.losses)
        if len(losses) < 2 * FIRST:
            return None
        first, last = max(map(abs, losses[:FIRST])), max(map(abs, losses[-FIRST:]))
        if last > 2 * first:
            return _failed(f"the training still diverges: the loss goes from {first:g} to {last:g}")
        return None

    def _summary(self) -> str:
        limit = "" if self.after.log.reached_limit else " to its end"
        return f"the program ran{limit} with the patch; nothing non-finite did harm"


def _findings(answer: Answer, level: str) -> list[Finding]:
    return answer.report.of_level(level) if answer.report is not None else []


def _is_finite(loss: float | None) -> TypeGuard[float]:
    return loss is not None and math.isfinite(loss)


def _finite(losses: list[float | None]) -> list[float]:
    return [loss for loss in losses if _is_finite(loss)]


def _relative(old: float, new: float | None) -> float:
    if not _is_finite(new):
        return math.inf
    return 0.0 if old == new else abs(new - old) / max(abs(old), 1e-12)


def _key(finding: Finding) -> tuple[str, str]:
    return finding.cause.id, finding.origin.site.file


def _place_of(finding: Finding) -> str:
    site, cause = finding.origin.site, finding.cause
    ours = MEASURING in cause.sentence
    what = cause.id + _where(finding) if ours else cause.sentence
    return f"{site.file}:{site.line}: {what}"


def _where(finding: Finding) -> str:
    origin = finding.origin
    in_gradient = origin.phase == "backward" and not origin.in_backward_code
    return " in the gradient" if in_gradient else ""


def _is_measured(code: str) -> bool:
    """The patched expression itself: inside a measuring call, or that call as a whole; not what
    the program computes of it.
    """
    if MEASURING not in code:
        return OURS in code
    try:
        whole = ast.parse(f"({code}\n)", mode="eval").body
    except SyntaxError:
        return True
    return isinstance(whole, ast.Call) and ast.unparse(whole.func) == f"{MEASURING}.compare"


def _agree(count: int) -> str:
    return "agrees" if count == 1 else "agree"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _plural(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
