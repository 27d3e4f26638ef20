"""Tries candidates until one holds, and the next fault behind it, within a budget."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from nanscope.findings import Finding
from nanscope.fix.patch import instrument, propose
from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.case import Case
from nanscope.fix.patch.source_file import SourceFile
from nanscope.fix.run.runs import Run, Runner
from nanscope.fix.run.verify import Judgement, judge

MORE_AFTER_ANOTHER_FAULT = 1
RANDOM = "the program is not deterministic: two runs without a patch have different losses"


@dataclass
class Budget:
    runs: int
    seconds: float
    begun: float = field(default_factory=time.monotonic)

    def left(self) -> bool:
        return self.runs > 0 and time.monotonic() - self.begun < self.seconds


@dataclass
class Tried:
    candidate: Candidate
    judgement: Judgement
    run: Run  # with the patch


@dataclass
class Step:
    """One fault, and what was done about it."""

    finding: Finding
    baseline: Run  # without the patch
    tried: list[Tried] = field(default_factory=list)
    chosen: Candidate | None = None
    judgement: Judgement | None = None
    run: Run | None = None  # the one that was judged


@dataclass
class Search:
    runner: Runner
    folder: str
    main_file: str | None
    budget: Budget
    max_fixes: int
    say: Callable[[str], None]
    originals: dict[str, SourceFile] = field(default_factory=dict)
    files: dict[str, SourceFile] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    _deterministic: bool | None = None
    _last: tuple[tuple, Run] | None = None  # that was measured, and of what

    def case(self, finding: Finding) -> Case:
        return Case(finding, dict(self.files), self.folder, self.main_file, tuple(self.runner.args))

    def proposals(self, finding: Finding) -> tuple[Case, list[Candidate]]:
        case = self.case(finding)
        found = propose.candidates(case)
        for path, source in case.files.items():
            self.originals.setdefault(path, source)
        return case, found

    def run(self, finding: Finding, baseline: Run) -> bool:
        """True if all faults are fixed, and that was seen."""
        for _ in range(self.max_fixes):
            step = Step(finding, baseline)
            self.steps.append(step)
            best = self._one(step, baseline)
            if best is None:
                return False
            case, chosen = best
            self._accept(case, chosen)
            step.chosen, step.judgement = chosen.candidate, chosen.judgement
            step.run = chosen.run
            if not chosen.judgement.other_fault:
                return self._confirm(step, baseline)
            if not self.budget.left():
                return False
            baseline = self._repeat(self._texts(), "looking for the next fault")
            if baseline.error is None:
                return False
            finding = baseline.error
        return False

    # ---------------------------------------------------------------- one fault
    def _one(self, step: Step, baseline: Run) -> tuple[Case, Tried] | None:
        case, found = self.proposals(step.finding)
        best = self._tries(step, case, found, baseline)
        if best is not None and best[1].judgement.status == "verified":
            return best
        return self._in_package(step, case, baseline) or best

    def _in_package(self, step: Step, case: Case, baseline: Run) -> tuple[Case, Tried] | None:
        """Nothing at the user's call holds: a change of the package itself."""
        inside = propose.in_package(case)
        if inside is None or not self.budget.left():
            return None
        package, found = inside
        for path, source in package.files.items():
            self.originals.setdefault(path, source)
        best = self._tries(step, package, found, baseline, case.finding)
        return best if best is not None and best[1].judgement.status == "verified" else None

    def _tries(
        self,
        step: Step,
        case: Case,
        found: list[Candidate],
        baseline: Run,
        finding: Finding | None = None,
    ) -> tuple[Case, Tried] | None:
        leading = None
        for candidate in found:
            if not self.budget.left():
                break
            if leading is not None and len(step.tried) > leading[0] + MORE_AFTER_ANOTHER_FAULT:
                break
            tried = self._try(case, candidate, baseline, finding or case.finding)
            step.tried.append(tried)
            if tried.judgement.status == "verified":
                return case, tried
            if tried.judgement.other_fault and leading is None and not candidate.changes_training:
                leading = len(step.tried), tried
        if any(t.judgement.status == "not_exercised" for t in step.tried):
            return None  # it mends all, as far as was seen: better than another fault behind it
        if leading is not None:
            return case, leading[1]
        # Of another training little can be said: its next fault may be the same one.
        slower = [t for t in step.tried if t.judgement.other_fault]
        return (case, slower[0]) if slower else None

    def _try(self, case: Case, candidate: Candidate, baseline: Run, finding: Finding) -> Tried:
        measuring = instrument.measuring(case, candidate)
        plain = self._texts() | _data(instrument.patched(case.files, candidate))
        run = self._measured(
            plain | _data(measuring),
            candidate.id,
            plain=plain,
            last_step=self._limit(baseline),
            stop_at_error=True,
            widens=candidate.widens,
            second_order=case.backward,
        )
        judgement = judge(finding, candidate, baseline, run, _elsewhere(case, measuring))
        if judgement.status == "failed" and judgement.losses_same is False:
            if not self._is_deterministic(baseline):
                judgement = Judgement("inconclusive", RANDOM)
        self.say(f"  {candidate.id}: {judgement.status}: {judgement.detail}")
        return Tried(candidate, judgement, run)

    def _measured(self, texts: dict[str, bytes], what: str, **how: object) -> Run:
        """The same text again, which promises something else, is judged by the same run."""
        key = texts, how
        if self._last is None or self._last[0] != key:
            self._last = key, self._repeat(texts, what, **how)
        return self._last[1]

    def _limit(self, baseline: Run) -> int | None:
        at = baseline.answer.log.step_of_error
        return None if at is None else at + 1 + self.runner.steps_after

    def _repeat(self, texts: dict[str, bytes], what: str, **how: object) -> Run:
        self.budget.runs -= 1
        self.say(f"run {self.runner.count + 1}: {what}")
        return self.runner.run(texts, **how)

    def _is_deterministic(self, baseline: Run) -> bool:
        if self._deterministic is None:
            if not self.budget.left():
                return True
            texts = self._texts()
            again = self._repeat(texts, "the same again, without a patch")
            count = baseline.answer.log.losses_at_error
            self._deterministic = again.answer is not None and (
                again.answer.log.losses[:count] == baseline.answer.log.losses[:count]
            )
        return self._deterministic

    # ---------------------------------------------------------------- what is kept
    def _accept(self, case: Case, chosen: Tried) -> None:
        self.files |= instrument.patched(case.files, chosen.candidate)

    def _texts(self) -> dict[str, bytes]:
        return _data(self.files)

    def _confirm(self, step: Step, baseline: Run) -> bool:
        """The very text that is proposed, without our measuring calls, once more."""
        if not self.budget.left():
            return True
        last = self._limit(baseline)
        run = self._repeat(self._texts(), "the patch as it is", last_step=last, stop_at_error=True)
        problem = "the run without measuring did not end"
        if run.answer is not None and run.error is None:
            ended = run.answer.ended != "exception"
            if ended and run.answer.log.steps >= step.judgement.steps:
                return True
            problem = "without measuring, the program ended otherwise"
        elif run.error is not None:
            problem = f"without measuring, a fault was found: {run.error.cause.sentence}"
        step.judgement = Judgement("failed", problem, run.answer.log.steps if run.answer else 0)
        return False


def _elsewhere(case: Case, measuring: dict[str, SourceFile]) -> Callable[[Finding], bool]:
    """Tells the failing expression from one of the same text beside it, in the measured files."""

    def is_elsewhere(error: Finding) -> bool:
        site = error.origin.site
        if case.source is None:
            return False
        measured = measuring.get(case.source.path)
        place = case.offset(measured or case.source, site)
        if measured is not None and place is not None:
            place = measured.place_before(place)
        return place is not None and place != case.offset(case.source, case.origin.site)

    return is_elsewhere


def _data(files: dict[str, SourceFile]) -> dict[str, bytes]:
    return {path: source.data for path, source in files.items()}
