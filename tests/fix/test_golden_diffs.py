"""The first proposal for larger training programs, as a diff: what an expert would write.

tests/golden/record_captures.py records the captures; UPDATE_GOLDEN=1 rewrites the diffs. Proposals
alone: to verify one, run `nanscope fix` on its program.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nanscope import _core
from nanscope.findings import Report
from nanscope.fix.patch import instrument, propose
from nanscope.fix.patch.case import Case
from nanscope.fix.verb.diff import unified

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "tests" / "golden" / "fixes"
CAPTURES = sorted(path.stem for path in FOLDER.glob("*.nsc"))


def first_diff(name: str) -> str:
    report = _core.Capture.read(str(FOLDER / f"{name}.nsc")).json()
    finding = Report.parse(report).findings[0]
    script = f"tests/cases/{name}.py"
    case = Case(finding, {}, str(ROOT), script)
    best = propose.candidates(case)[0]
    assert not best.workaround
    texts = instrument.patched(case.files, best)
    return "".join(unified(script, case.files[p].text, after.text) for p, after in texts.items())


def test_there_are_enough():
    assert len(CAPTURES) >= 10


@pytest.mark.parametrize("name", CAPTURES)
def test_the_diff(name):
    diff = first_diff(name)
    golden = FOLDER / f"{name}.diff"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(diff)
    assert diff == golden.read_text()
