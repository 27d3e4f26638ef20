"""The first proposal for a capture: `python -m nanscope.fix.verb.first [MAIN_FILE]`.

For `run`, when its program has ended with an error. Reads the capture from stdin and prints the fix
as JSON, or nothing: LibCST is missing, the text is not the one that ran, no rewrite fits, or all
that fits hides the fault.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys


def main(main_file: str = "") -> None:
    if importlib.util.find_spec("libcst") is None:
        return
    from nanscope import _core
    from nanscope.findings import Report
    from nanscope.fix.patch import instrument, propose
    from nanscope.fix.patch.case import Case
    from nanscope.fix.verb.record import fix_of

    report = Report.parse(_core.Capture.from_bytes(sys.stdin.buffer.read()).json())
    main_path = os.path.realpath(main_file) if main_file else None
    case = Case(report.findings[0], {}, os.getcwd(), main_path, tuple(report.program.argv[1:]))
    best = propose.first(case)
    if best is not None:
        patched = instrument.patched(case.files, best)
        sys.stdout.write(json.dumps(fix_of(case.files, patched, [best]).to_json()))


if __name__ == "__main__":
    main(*sys.argv[1:])
