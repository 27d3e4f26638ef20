"""What a replay has to say, on its way to the run, and how sure it is."""

from __future__ import annotations

import json
import os
import struct

from nanscope import _core
from nanscope.findings import Finding, Report
from nanscope.run.conclusion import Conclusion
from nanscope.telling.intent import tests_for_nonfinite
from nanscope.telling.stack import full_path, is_user_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

NOT_MADE_HERE = ("imported", "unwatched")


class Comparison:
    """The losses of the replay against those of the run, one by one and bit by bit."""

    def __init__(self, adapter: ModuleType) -> None:
        _, self.compared, self.first_unequal, self.run, self.replay = adapter.comparison()

    @property
    def equal(self) -> bool:
        return self.first_unequal is None

    def sentence(self) -> str:
        if self.equal and self.compared:
            number = "loss" if self.compared == 1 else "losses"
            return f"bit-equal to the run ({self.compared:,} {number} compared)"
        if self.equal:
            return "with no loss to compare"
        return (
            f"NOT bit-equal to the run: loss number {self.first_unequal + 1:,} was {self.run!r} in "
            f"the run and {self.replay!r} in the replay"
        )


class Answer:
    """The capture of a replay, which is that of the run from here on."""

    def __init__(self, how: dict, data: bytes, comparison: Comparison) -> None:
        self.data = data
        self.conclusion = Conclusion(_core.Capture.from_bytes(data), "", how["complaints"])
        self.moments: int = how["moments"]  # that it came to
        self.unexplained: bool = how["unexplained"]  # something is bad, and it saw nothing make it
        self.early_end: str = how["ending"] or "it ended early"
        self.comparison = comparison
        self.error: Finding | None = Report.of(self.conclusion.capture).first_error

    def reached(self, moment: int) -> bool:
        """A replay that ended before has nothing to say, unless it is an error."""
        return self.error is not None or self.moments >= moment

    @property
    def source_tests_for_it(self) -> bool:
        """The program expects such values."""
        origin, harm = self.error.origin, self.error.harm
        files = [frame.file for frame in origin.stack] + [origin.site.file]
        if harm is not None and harm.site is not None:
            files.append(harm.site.file)
        return tests_for_nonfinite([name for name in files if is_user_code(full_path(name))])

    @property
    def text(self) -> str:
        return self.conclusion.capture.text(in_block=True)

    @property
    def knows_the_origin(self) -> bool:
        """Not if the value, or the graph it was made in, was there before the snapshot."""
        if self.error is None:
            return False
        origin = self.error.origin
        return origin.kind not in NOT_MADE_HERE and origin.site.line > 0


def send_unguarded(descriptor: int, places: list[str]) -> None:
    """Before anything is run again: known even of a replay that is ended."""
    _append(descriptor, json.dumps(places).encode())


def send(descriptor: int, how: dict, capture: bytes) -> None:
    """`how`: the keys that Answer reads."""
    _append(descriptor, json.dumps(how).encode())
    _append(descriptor, capture)


def receive(descriptor: int, comparison: Comparison) -> tuple[list[str], Answer | None]:
    """The places where the replay really wrote, and what it has to say."""
    records = _records(descriptor)
    try:
        unguarded = json.loads(next(records))
    except (StopIteration, ValueError):
        return [], None
    try:
        return unguarded, Answer(json.loads(next(records)), next(records), comparison)
    except (StopIteration, ValueError, KeyError):
        return unguarded, None


def _append(descriptor: int, record: bytes) -> None:
    data = struct.pack("q", len(record)) + record
    end, done = os.fstat(descriptor).st_size, 0
    while done < len(data):
        done += os.pwrite(descriptor, data[done:], end + done)


def _records(descriptor: int) -> Iterator[bytes]:
    """Those that are whole."""
    place, size = 0, os.fstat(descriptor).st_size
    while place + 8 <= size:
        (length,) = struct.unpack("q", os.pread(descriptor, 8, place))
        place += 8
        if place + length > size:
            return
        record = b""
        while len(record) < length:
            record += os.pread(descriptor, length - len(record), place + len(record))
        place += length
        yield record
