"""What `fix` made of a finding, as the records of a capture hold it."""

from __future__ import annotations

import re
from dataclasses import replace

from nanscope.findings import Fix, Verification
from nanscope.fix.patch.candidate import Candidate
from nanscope.fix.patch.source_file import SourceFile
from nanscope.fix.run.runs import Run
from nanscope.fix.run.verify import Judgement
from nanscope.fix.verb.diff import unified
from nanscope.telling.stack import display_path

MOST_LOSSES = 64  # before the error, and behind it


def fix_of(
    originals: dict[str, SourceFile], files: dict[str, SourceFile], chosen: list[Candidate]
) -> Fix:
    """`files` are those of the originals with the chosen patches in them."""
    changed = {p: s for p, s in files.items() if s.text != originals[p].text}
    names = {path: display_path(path) for path in changed}
    diff = "".join(unified(names[p], originals[p].text, s.text) for p, s in changed.items())
    return Fix(
        id="+".join(dict.fromkeys(c.id for c in chosen)),
        diff=diff,
        files=list(names.values()),
        explanation=" ".join(dict.fromkeys(_sentence(c.explanation) for c in chosen)),
        changes_training=any(c.changes_training for c in chosen),
        workaround=any(c.workaround for c in chosen),
    )


def _sentence(text: str) -> str:
    """With a capital, unless it begins with code."""
    return text if re.match(r"\w+\(", text) else text[:1].upper() + text[1:]


def verification_of(judgement: Judgement, baseline: Run, patched: Run) -> Verification:
    """With the losses around the error, without the patch and with it."""
    at_error = (baseline.answer.log.losses_at_error or 0) if baseline.answer else 0
    begin = max(0, at_error - MOST_LOSSES)
    return replace(
        judgement.verification(),
        first_loss=begin,
        losses_before=_losses(baseline, begin, at_error + MOST_LOSSES),
        losses_after=_losses(patched, begin, at_error + MOST_LOSSES),
    )


def _losses(run: Run, begin: int, end: int) -> list[float | None]:
    losses = run.answer.log.losses[begin:end] if run.answer else []
    return [None if loss is None else float(loss) for loss in losses]


def not_run(status: str, detail: str, checks: list[str]) -> Verification:
    """A verification without a run with the patch."""
    return Verification(status, 0, None, detail, checks)
