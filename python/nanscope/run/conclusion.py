"""The end of a session: its capture, from which the report is made once."""

from __future__ import annotations

from nanscope.telling.allowances import allowances

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from nanscope import _core
    from nanscope.run.ending import Ending

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
        return cls(*adapter.finish(ending.status, ending.kind, gaps, allowances.told()))

    def ends(self, kind: str) -> None:
        """The program has ended only now, in this way."""
        if self.capture.ended != kind:
            self.capture.ended = kind
            if self.path:
                self.capture.write_end(self.path)  # if it cannot be, the report has it
