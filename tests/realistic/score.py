"""Training programs written without knowledge of the rules, and what is said of them.

    score.py [WORD]      # only those whose name contains WORD

Beside each program lies its truth, written down before the program was ever watched: the line of
the first operation that went wrong, its phase and step, the mechanism in words and the change that
an expert would merge; or that it is healthy. Prints a line for each program and the totals. Cause
and fix are for a person to compare: they are printed beside the truth with -v.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
NANSCOPE = Path(sysconfig.get_path("scripts")) / "nanscope"


def watched(program: Path) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [NANSCOPE, "run", "-q", "--json", report, program]
        subprocess.run(command, cwd=folder, capture_output=True, timeout=600)
        return json.loads(report.read_text())


def judged(truth: dict, report: dict) -> tuple[bool, bool, str]:
    """Whether the verdict is right, whether the line is, and what was said."""
    errors = [finding for finding in report["findings"] if finding["level"] == "error"]
    if truth["healthy"]:
        said = f"{report['verdict']}, {len(errors)} errors"
        return not errors, not errors, said
    if not errors:
        return False, False, report["verdict"]
    origin, cause = errors[0]["origin"], errors[0]["cause"]
    lines = {truth["line"], *truth.get("lines_ok", [])}
    said = f"line {origin['site']['line']} (truth {truth['line']}) {origin['phase']}"
    said += f" {cause['id']} ({cause['certainty']})"
    return True, origin["site"]["line"] in lines, said


def show(truth: dict, report: dict) -> None:
    for finding in report["findings"][:1]:
        print(f"    said:  {finding['cause']['sentence']}")
        if finding["fix"]:
            changed = [line for line in finding["fix"]["diff"].splitlines() if line[:1] in "+-"]
            print("    fix:   " + "\n           ".join(changed))
    print(f"    truth: {truth['cause']}")
    print(f"    merge: {truth['fix']}")


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("word", nargs="?", default="")
    options.add_argument("-v", action="store_true")
    asked = options.parse_args()
    right = placed = count = 0
    for program in sorted(HERE.glob("*/*.py")):
        if asked.word not in program.stem:
            continue
        truth = json.loads(program.with_suffix(".json").read_text())
        report = watched(program)
        verdict, line, said = judged(truth, report)
        right, placed, count = right + verdict, placed + line, count + 1
        mark = "  " if verdict and line else "??"
        print(f"{mark} {program.parent.name}/{program.stem}: {said}", flush=True)
        if asked.v:
            show(truth, report)
    print(f"{count} programs: verdict right in {right}, line right in {placed}")
    return right != count or placed != count


if __name__ == "__main__":
    sys.exit(main())
