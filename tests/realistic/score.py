"""Training programs written without knowledge of the rules, and what is said of them.

    score.py [WORD] [-v] [--mode sentinel] [--fix]      # only those whose path contains WORD

Beside each program lies its truth, written down before the program was ever watched: the line of
the first operation that went wrong, its phase and step, the mechanism in words and the change that
an expert would merge; or that it is healthy. Prints a line for each program and the totals. Cause
and fix are for a person to compare: they are printed beside the truth with -v. With --fix the
patch is tried, too: "merged" is a change that a reviewer has read and would merge (`merged` in the
truth: the lines that it adds); anything else that is verified has to be read.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import sysconfig
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
NANSCOPE = Path(sysconfig.get_path("scripts")) / "nanscope"
LONGEST = 1800  # seconds


def watched(program: Path, mode: str, fix: bool) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        verb = ["fix", "--yes"] if fix else ["run", "--mode", mode]
        command = [NANSCOPE, *verb, "-q", "--json", report, program]
        subprocess.run(command, cwd=folder, capture_output=True, timeout=LONGEST)
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


def repaired(truth: dict, report: dict) -> str:
    """What became of the patch: merged, TO BE READ, or why there is none."""
    finding = next((f for f in report["findings"] if f["level"] == "error"), None)
    if truth["healthy"] or finding is None or finding["fix"] is None:
        return "healthy" if truth["healthy"] else "no patch"
    status = finding["verification"]["status"]
    if finding["fix"]["workaround"]:
        return f"workaround, {status}"
    if status != "verified":
        return status
    return "merged" if added(finding["fix"]["diff"]) in truth.get("merged", []) else "TO BE READ"


def added(diff: str) -> list[str]:
    lines = diff.splitlines()
    return [line[1:].strip() for line in lines if line[:1] == "+" and not line.startswith("+++")]


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
    options.add_argument("--mode", default="exact", choices=["exact", "sentinel"])
    options.add_argument("--fix", action="store_true")
    asked = options.parse_args()
    right = placed = count = 0
    patches: Counter[str] = Counter()
    for program in sorted(HERE.glob("*/*.py")):
        name = f"{program.parent.name}/{program.stem}"
        if asked.word not in name:
            continue
        truth = json.loads(program.with_suffix(".json").read_text())
        report = watched(program, asked.mode, asked.fix)
        verdict, line, said = judged(truth, report)
        right, placed, count = right + verdict, placed + line, count + 1
        mark = "  " if verdict and line else "??"
        if asked.fix:
            patches[repaired(truth, report)] += 1
            said += f"; {repaired(truth, report)}"
        print(f"{mark} {name}: {said}", flush=True)
        if asked.v:
            show(truth, report)
    print(f"{count} programs: verdict right in {right}, line right in {placed}")
    if asked.fix:
        print("patches: " + ", ".join(f"{what} {n}" for what, n in patches.most_common()))
    return right != count or placed != count


if __name__ == "__main__":
    sys.exit(main())
