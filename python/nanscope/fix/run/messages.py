"""What the verb and a child that runs the program write to each other, as files of JSON.

The verb writes a Plan, the child an Answer. Both are typed on either side; this is the one place
that turns them into JSON and back.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TypeVar

from nanscope.findings import Report
from nanscope.json_object import JsonObject

T = TypeVar("T", bound=JsonObject)


@dataclass(frozen=True)
class Plan(JsonObject):
    """How a child is to run the program.

    measured   files by their full path, as this process is to see them: patched, and with calls
               of the probe
    plain      the same without those calls: written where the sandbox throws it away, for
               processes that the program spawns
    """

    kind: str  # "script" or "module"
    target: str
    args: list[str]
    argv: list[str]  # as the capture is to name the program
    launcher: str  # how python was called
    exchange: str
    in_sandbox: bool
    measured: dict[str, bytes]
    plain: dict[str, bytes]
    capture: str
    answer: str
    steps_after: int  # how many steps to go on behind an error
    last_step: int | None
    stop_at_error: bool
    widens: bool
    second_order: bool


@dataclass
class RunLog(JsonObject):
    """Losses and steps of one run, and where the first error was among them."""

    losses: list[float | None] = field(default_factory=list)  # None: not a number
    loss_steps: list[int] = field(default_factory=list)  # how many steps were done before each
    steps: int = 0
    without_gradient: list[int] = field(default_factory=list)  # steps whose gradients were all 0
    losses_at_error: int | None = None
    step_of_error: int | None = None
    reached_limit: bool = False


@dataclass
class Place(JsonObject):
    """What the probe measured at one patched expression."""

    ran: int = 0
    compared: int = 0
    met: int = 0  # how often the original, or its gradient, was not finite
    still_bad: int = 0  # how often the patched was not finite where the original was not
    largest_difference: float = 0.0
    last_digit: float = 0.0  # of the narrow type that the patch widens
    regained: int = 0  # elements whose digits the original had lost
    lost_by_rounding: float = 0.0  # the most that such an element had lost, relative
    identical: bool = True
    healthy: int = 0  # elements that the original had healthy
    made: int = 0  # healthy ones that were made, near what was met
    numbers_made: int = 0  # of them, by other numbers of Python
    moved: float = 0.0  # by how much the patch moved one of these, relative
    moved_by_number: bool = False
    moved_from: str = ""
    moved_to: str = ""
    fractional: bool = False  # what is taken for a count was no whole number
    counted: int = 0  # the largest that was seen of it
    known: int = 0  # elements that fail in the type, not in float64
    known_off: float = 0.0  # the most that the patch is away from such a value, relative
    known_right: float = 0.0
    known_given: float = 0.0
    limit_off: float = 0.0  # how far what was mended is from the limit there, if there is one
    limit_right: float = 0.0
    limit_given: float = 0.0
    mended_value: float = 0.0  # the largest where the original failed
    healthy_value: float = 0.0
    mended_slope: float = 0.0
    healthy_slope: float = 0.0
    mismatch: str = ""
    gradient_lost: bool = False
    gradient_kept: bool = False
    fault: str = ""

    def add(self, other: Place) -> None:
        """Takes in what another process measured at the same expression."""
        if other.known_off > self.known_off:
            self.known_right, self.known_given = other.known_right, other.known_given
        if other.limit_off > self.limit_off:
            self.limit_right, self.limit_given = other.limit_right, other.limit_given
        for each in fields(self):
            mine, theirs = getattr(self, each.name), getattr(other, each.name)
            if each.name in ("known_right", "known_given", "limit_right", "limit_given"):
                continue
            if each.name == "identical":
                mine = mine and theirs
            elif isinstance(mine, bool | str):
                mine = mine or theirs
            else:
                mine = mine + theirs if isinstance(mine, int) else max(mine, theirs)
            setattr(self, each.name, mine)


@dataclass
class Answer(JsonObject):
    """What a child says of its run."""

    ended: str
    status: int
    log: RunLog
    places: dict[int, Place]
    problem: str = ""  # why nothing could be watched
    exception: str = ""  # that ended the program
    report_json: str | None = None  # None: nothing was watched
    capture: str = ""
    may_be_prepared: bool = False  # a repeat may find torch imported already

    @cached_property
    def report(self) -> Report | None:
        return Report.parse(self.report_json) if self.report_json is not None else None


def send(path: str, message: Plan | Answer) -> None:
    with open(path, "w", encoding="utf-8") as file:
        json.dump(message.to_json(), file)


def receive(kind: type[T], path: str) -> T:
    with open(path, encoding="utf-8") as file:
        return kind.from_json(json.load(file))
