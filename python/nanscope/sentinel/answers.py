"""What a replay has to say, on its way to the run, and how sure it is."""

from __future__ import annotations

import json
import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
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
    """`told` is what the adapter's `finish` returned in the replay; `capture` the bytes of it."""

    def __init__(self, told: dict, capture: bytes, comparison: Comparison) -> None:
        self.told = told
        self.capture = capture
        self.comparison = comparison
        self.report = json.loads(told["json"])

    @property
    def error(self) -> dict | None:
        findings = self.report["findings"]
        return next((f for f in findings if f["level"] == "error"), None)

    def ended(self, kind: str) -> None:
        """The run went on after its error, and has ended by now."""
        if self.report["program"]["ended"] != kind:
            self.report["program"]["ended"] = kind
            self.told["json"] = json.dumps(self.report, indent=2, ensure_ascii=False) + "\n"

    def reached(self, moment: int) -> bool:
        """A replay that ended before has nothing to say, unless it is an error."""
        return self.error is not None or self.told["moments"] >= moment

    @property
    def early_end(self) -> str:
        return self.told["ending"] or "it ended early"

    @property
    def text(self) -> str:
        """Of the error, without the lines around it."""
        return self.told.get("finding", "") or self.told["text"]

    @property
    def knows_the_origin(self) -> bool:
        """Not if the value, or the graph it was made in, was there before the snapshot."""
        if self.error is None:
            return False
        origin = self.error["origin"]
        return origin["kind"] not in NOT_MADE_HERE and origin["site"]["line"] > 0


def send(descriptor: int, told: dict, capture: bytes) -> None:
    text = json.dumps({**told, "capture": ""}).encode()
    data = struct.pack("q", len(text)) + text + capture
    done = 0
    while done < len(data):
        done += os.pwrite(descriptor, data[done:], done)


def receive(descriptor: int, comparison: Comparison) -> Answer | None:
    size = os.fstat(descriptor).st_size
    data = b""
    while len(data) < size:
        data += os.pread(descriptor, size - len(data), len(data))
    if len(data) < 8:
        return None
    (length,) = struct.unpack("q", data[:8])
    try:
        told = json.loads(data[8 : 8 + length])
        return Answer(told, data[8 + length :], comparison)
    except (ValueError, KeyError):
        return None
