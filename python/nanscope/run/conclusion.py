"""The end of a session: its capture, from which the report is made once, as text, JSON and page."""

from __future__ import annotations

from nanscope.run.ending import terminal_columns, write_text
from nanscope.telling.allowances import allowances
from nanscope.telling.stack import display_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Protocol

    from nanscope import _core
    from nanscope.run.ending import Ending

    class Manner(Protocol):
        """How the user wants to be told: the settings of a run, or what `fix` was asked."""

        verbose: bool
        color: bool
        json: str  # where to, or ""
        html: str

    Gaps = list[tuple[str, str, int]]  # what was not watched, why, and how often


class Conclusion:
    """`capture` holds the records in memory, `path` names the file that has them too, or is ""."""

    def __init__(self, capture: _core.Capture, path: str = "", complaints: list[str] = ()) -> None:
        self.capture = capture
        self.path = path
        self.complaints = list(complaints)  # what could not be written, a sentence each

    @classmethod
    def of_session(cls, adapter: ModuleType, ending: Ending, gaps: Gaps) -> Conclusion:
        """Ends the session of the adapter."""
        return cls(*adapter.finish(ending.status, ending.kind, gaps, allowances.counted()))

    def ends(self, kind: str) -> None:
        """The program has ended only now, in this way."""
        if self.capture.ended != kind:
            self.capture.ended = kind
            if self.path:
                self.capture.write_end(self.path)  # if it cannot be, the report has it


def text_for(capture: _core.Capture, manner: Manner) -> str:
    """The report for a terminal, without the end of its last line."""
    return capture.text(manner.verbose, manner.color, terminal_columns()).rstrip("\n")


def write_for(capture: _core.Capture, path: str, manner: Manner) -> None:
    """What --json and --html ask for. `path` is the capture's, or ""."""
    if manner.json:
        write_text(manner.json, capture.json())
    if manner.html:
        write_text(manner.html, capture.html(display_path(path) if path else ""))
