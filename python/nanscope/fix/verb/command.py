"""`nanscope fix`: run, propose, try on an overlay, show, and perhaps apply."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import sys
import tempfile
from dataclasses import asdict, replace

from nanscope.findings import Finding, Fix, Report, Verification
from nanscope.fix.verb import notebook
from nanscope.fix.verb.captured import BadCapture, Command, NotAllowed, agreed, read, report_of
from nanscope.run.conclusion import text_for
from nanscope.run.ending import say, write_text
from nanscope.telling.stack import display_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nanscope.fix.patch.source_file import SourceFile

NOT_SPAWNED = "processes that the program spawns saw the files without the patch"
ENDED_EARLY = "the program ended before it could be watched"
NO_LIBCST = "nanscope fix needs LibCST: pip install 'nanscope[fix]'"
FIXED, BAD_USAGE, FOUND, NO_FIX, NOT_STARTED = 0, 2, 3, 4, 125
DEFAULTS = {"verify": 100, "max_runs": 24, "max_time": 900, "max_fixes": 6}


def carry_out(request) -> int:
    if importlib.util.find_spec("libcst") is None:
        say(NO_LIBCST)
        return NOT_STARTED
    exchange = tempfile.mkdtemp(prefix="nanscope-fix-")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        command = Command.of(request)
        run = FixRun(request, command, exchange)
        try:
            return run.carry_out()
        finally:
            run.runner.close()
    except (NotAllowed, notebook.BadNotebook) as error:
        say(f"nanscope fix: {error}")
        return BAD_USAGE
    except KeyboardInterrupt:
        say("nanscope fix: interrupted; nothing was changed.")
        return 130
    except BadCapture as error:
        say(f"nanscope: {error}")
        return BAD_USAGE
    finally:
        shutil.rmtree(exchange, ignore_errors=True)


class FixRun:
    """One call of `nanscope fix`."""

    def __init__(self, request, command: Command, exchange: str) -> None:
        from nanscope.fix.run import copies, runs
        from nanscope.fix.verb.search import Budget, Search

        self.request = request
        self.manner = request.run
        self.folder = os.getcwd()
        numbers = {name: getattr(request, name) for name in DEFAULTS}
        numbers = {k: DEFAULTS[k] if v is None else v for k, v in numbers.items()}
        self.max_runs = numbers["max_runs"]
        self.finding: Finding | None = None
        kind, target, args = command.kind, command.target, command.args
        self.unprotected = runs.protection(exchange)
        self.copied = self.unprotected is not None and copies.is_small(self.folder)
        self.runner = runs.Runner(
            kind,
            target,
            args,
            exchange,
            self.unprotected is None,
            self.copied,
            numbers["verify"],
            self.manner.quiet,
        )
        main = os.path.realpath(target) if kind == "script" else None
        budget = Budget(numbers["max_runs"], numbers["max_time"])
        self.search = Search(
            self.runner, self.folder, main, budget, numbers["max_fixes"], self._progress
        )
        self.notebook: notebook.Notebook | None = None
        if main is not None and main.endswith(".ipynb"):
            self._take_notebook(notebook.Notebook.read(main))

    def _take_notebook(self, book: notebook.Notebook) -> None:
        """Its cells are the program, and stand in for the text of its file."""
        from nanscope.fix.patch.source_file import SourceFile

        self.notebook = book
        source = SourceFile(book.path, book.script.encode())
        self.runner.always[book.path] = source.data
        self.search.files[book.path] = self.search.originals[book.path] = source

    def _progress(self, text: str) -> None:
        if not self.manner.quiet:
            say(f"nanscope fix: {text}")

    # ---------------------------------------------------------------- the way
    def carry_out(self) -> int:
        from nanscope.fix.run.runs import NotStarted

        capture = self.request.from_
        if capture is not None and self.max_runs == 0:
            return self._propose(capture)
        try:
            first = self.runner.run({}, first=True)
        except NotStarted as error:
            say(f"nanscope fix: {error}")
            return NOT_STARTED
        if first.answer is None or first.report is None:
            say(f"nanscope fix: {first.answer and first.answer.problem or ENDED_EARLY}")
            return first.status or NOT_STARTED
        finding = first.error or next(iter(self._repairable(first)), None)
        if finding is None:
            return self._clean(first, capture)
        if capture is not None and not self._is_of(capture, finding):
            self._progress("another failure than that of the capture came first; it is fixed.")
            capture = None
        capture = capture or first.answer.capture
        self.finding = finding
        if self.max_runs == 0:
            return self._propose(capture, finding)
        if not self._may_repeat(first.seconds):
            return self._propose(capture, finding)
        done = self.search.run(finding, first)
        return self._conclude(capture, done)

    @staticmethod
    def _is_of(capture: str, finding: Finding) -> bool:
        captured = report_of(capture).findings
        return any(f.origin.site == finding.origin.site for f in captured)

    @staticmethod
    def _repairable(first) -> list[Finding]:
        """Warnings of something that has happened: a born Inf that was divided away."""
        return [f for f in first.findings("warning") if f.origin.numel > 0]

    def _clean(self, first, capture: str | None) -> int:
        if capture is not None:
            say("nanscope fix: the failure of the capture did not happen again; nothing to try.")
            return FOUND
        clean = first.report.verdict == "clean"
        more = "the run was clean" if clean else "no error was found, but not all was watched"
        failed = first.answer.status or FIXED
        if failed:
            more = f"no NaN or Inf did harm; that the program ends with {failed} has another reason"
        self._progress(f"nothing to fix: {more}.")
        write_text(self.manner.json, first.answer.report_json)
        return failed

    def _may_repeat(self, seconds: float) -> bool:
        runs = self.max_runs
        about = f"up to {runs} repeats of about {max(seconds, 0.1):.1f} s each"
        if self.unprotected is None:
            self._progress(f"{about}; what they write is thrown away.")
            return True
        where = "outside the working folder, of which they use a copy, " if self.copied else ""
        self._progress(
            f"{about}. What they write {where}is written for real: it cannot be thrown away here "
            f"({self.unprotected})."
        )
        answer = True if self.request.yes else agreed("repeat the program?")
        if answer is None:
            self._progress("it is not repeated without --yes.")
        return bool(answer)

    # ---------------------------------------------------------------- the answer
    def _propose(self, capture: str, finding: Finding | None = None) -> int:
        """Without a run: the first proposal, marked as not run."""
        if finding is None:
            findings = report_of(capture).findings
            finding = findings[0] if findings and findings[0].level == "error" else None
        if finding is None:
            self._progress("nothing to fix: the capture holds no error.")
            return FIXED
        case, found = self.search.proposals(finding)
        if not found:
            return self._report(capture, None, self._not_verified(case, "not_run"), NO_FIX)
        from nanscope.fix.patch import instrument
        from nanscope.fix.verb import record

        self.search.files = instrument.patched(case.files, found[0])
        fix = self._fix_of([found[0]])
        verification = record.not_run("not_run", "the patch was not run.", [])
        return self._report(capture, fix, verification, FOUND)

    def _conclude(self, capture: str, done: bool) -> int:
        from nanscope.fix.verb.record import verification_of

        steps = self.search.steps
        if done:
            fix = self._fix_of([s.chosen for s in steps])
            last = steps[-1]
            # Without the patch: the program as it was, before the first of several.
            verification = verification_of(last.judgement, steps[0].baseline, last.run)
            if len(steps) > 1:
                verification = replace(
                    verification,
                    detail=f"{verification.detail}; {len(steps)} faults were fixed one after the "
                    "other",
                    checks=[
                        f"{s.chosen.id}: {check}" for s in steps for check in s.judgement.checks
                    ],
                )
            if not self.runner.reaches_spawned:
                verification = replace(verification, checks=[*verification.checks, NOT_SPAWNED])
            if self.request.apply:
                if not self._apply():
                    return self._report(capture, fix, verification, FOUND)
                fix = replace(fix, applied=True)
            return self._report(capture, fix, verification, FIXED)
        undecided = [t for t in steps[0].tried if t.judgement.status == "not_exercised"]
        undecided += [t for t in steps[0].tried if t.judgement.status == "inconclusive"]
        if undecided and len(steps) == 1:
            from nanscope.fix.patch import instrument

            best = undecided[0]
            self.search.files = instrument.patched(self.search.originals, best.candidate)
            fix = self._fix_of([best.candidate])
            verification = verification_of(best.judgement, steps[0].baseline, best.run)
            return self._report(capture, fix, verification, FOUND)
        case = self.search.case(steps[-1].finding)
        return self._report(capture, None, self._not_verified(case, "failed"), NO_FIX)

    def _not_verified(self, case, status: str) -> Verification:
        from nanscope.fix.patch import propose
        from nanscope.fix.verb import record

        tried = [t for step in self.search.steps[-1:] for t in step.tried]
        checks = [f"{t.candidate.id}: {t.judgement.detail}" for t in tried]
        if not self.search.budget.left() and self.max_runs > 0:
            checks.append("the runs or the time that were allowed are used up")
        head = "no candidate holds" if tried else "no patch fits this place"
        detail = f"{head}. {propose.advice(case)}"
        return record.not_run(status, detail, checks)

    def _fix_of(self, chosen: list) -> Fix:
        from nanscope.fix.verb.record import fix_of

        fix = fix_of(self.search.originals, self.search.files, chosen)
        book = self.notebook
        if book is not None:
            others = {p: s for p, s in self.search.files.items() if p != book.path}
            rest = fix_of(self.search.originals, others, chosen).diff
            patched = self.search.files[book.path].text
            return replace(fix, diff=book.diff(patched, display_path(book.path)) + rest)
        return fix

    def _apply(self) -> bool:
        """Writes the patched files; False if that is refused, which is said."""
        from nanscope.fix.verb import apply

        originals, files = self.search.originals, self.search.files
        pairs = [(originals[p], s) for p, s in files.items() if s.text != originals[p].text]
        if self.notebook is not None:
            pairs = [self._in_cells(*pair) for pair in pairs]
        inside = self._in_packages([before for before, _ in pairs])
        if inside and not self.request.in_packages:
            say(f"nanscope fix: {inside[0]} is of an installed package: --in-packages writes it.")
            return False
        try:
            apply.write(pairs, self.folder, inside)
        except apply.Refused as error:
            say(f"nanscope fix: {error}")
            return False
        return True

    def _in_cells(self, before: SourceFile, after: SourceFile) -> tuple[SourceFile, SourceFile]:
        book = self.notebook
        if before.path != book.path:
            return before, after
        kind = type(before)
        return kind(book.path, book.data), kind(book.path, book.patched(after.text))

    def _in_packages(self, files: list) -> list[str]:
        from nanscope.telling.stack import is_user_code

        return [s.path for s in files if not is_user_code(s.path, self.search.main_file)]

    def _report(self, path: str, fix: Fix | None, verification: Verification, status: int) -> int:
        """Adds what was made of the finding to its capture, and shows that."""
        capture = read(path)
        findings = Report.parse(capture.json()).findings
        site = self.finding.origin.site if self.finding else None
        number = next((i for i, f in enumerate(findings) if f.origin.site == site), 0)
        patch = None if fix is None else asdict(fix)
        capture.repair(number, patch, asdict(verification), self._tried(), path)
        if not self.manner.quiet:
            say(text_for(capture, self.manner))
            if self.notebook is not None and site is not None:
                place = self.notebook.place(site.line)
                say(f"nanscope fix: {site.file}:{site.line} is {place}.")
            if fix is not None and findings[number].level != "error":
                say(f"{verification.status}: {verification.detail}\n{fix.diff}")
        write_text(self.manner.json, capture.json())
        return status

    def _tried(self) -> list[dict[str, str]]:
        tried = [t for step in self.search.steps for t in step.tried]
        return [
            {"id": t.candidate.id, "status": t.judgement.status, "detail": t.judgement.detail}
            for t in tried
        ]
