"""`nanscope doctor --self-test`: plants births and looks whether each is found, on this machine."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass

from nanscope.run.progress import Progress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import torch

    from nanscope.findings import Finding

MARK = re.compile(r"# birth: (forward|backward|optimizer)(?: (\S+))?$")


@dataclass
class Planted:
    """A program of `planted.py`, and what must be found in it."""

    name: str
    line: int
    phase: str
    maker: str | None  # the op, or in backward the node; None: whichever it is there
    run: Callable[[], object]

    def problem(self, finding: Finding | None) -> str | None:
        """What is wrong with what was found."""
        if finding is None:
            return "nothing was found"
        origin = finding.origin
        found = origin.node if self.phase == "backward" else origin.op
        line = origin.site.line if origin.site is not None else None
        if origin.phase != self.phase or line != self.line or self.maker not in (None, found):
            return f"found {found} in line {line}, phase {origin.phase}"
        return None


def carry_out() -> int:
    """Exit status; the text goes to stdout."""
    began = time.monotonic()
    total = bad = 0
    progress = Progress(None, "planted births tried")
    for planted, problem in results():
        total += 1
        progress.advance()
        bad += problem is not None
        if problem is not None:
            sys.stdout.write(f"self-test: {planted.name}: {problem}\n")
    progress.close()
    seconds = time.monotonic() - began
    sys.stdout.write(
        f"self-test: {total - bad} of {total} planted births found "
        f"(forward, backward, optimizer), in {seconds:.1f} s\n"
    )
    return 1 if bad else 0


def results() -> Iterator[tuple[Planted, str | None]]:
    """Each program with what is wrong with its finding; None where it is right."""
    for planted, _, problem in findings():
        yield planted, problem


def findings(
    device: torch.device | None = None,
) -> Iterator[tuple[Planted, Finding | None, str | None]]:
    """The same with what was found; with a device, new tensors are made there."""
    from nanscope.api.watch import watch

    place = contextlib.nullcontext() if device is None else device
    with tempfile.TemporaryDirectory(prefix="nanscope-") as folder:
        for planted in programs(folder):
            found: list[Finding] = []
            try:
                with warnings.catch_warnings(), place, watch(on_find=found.append):
                    warnings.simplefilter("ignore")
                    planted.run()
            except Exception as error:  # of the program, or of the watch: both are to be told
                yield planted, None, f"{type(error).__name__}: {error}"
                continue
            first = found[0] if found else None
            yield planted, first, planted.problem(first)


def programs(folder: str) -> list[Planted]:
    from nanscope.api.planted import PROGRAMS

    path = os.path.join(folder, "planted.py")
    with open(path, "w") as file:
        file.write(PROGRAMS)
    names: dict[str, Callable] = {}
    exec(compile(PROGRAMS, path, "exec"), names)
    found, name = [], ""
    for number, text in enumerate(PROGRAMS.splitlines(), 1):
        if text.startswith("def "):
            name = text[4 : text.index("(")]
        if mark := MARK.search(text):
            found.append(Planted(name, number, mark[1], mark[2], names[name]))
    return found
