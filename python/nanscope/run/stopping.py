"""What happens on the thread that did harm: the exception to raise, or none."""

from __future__ import annotations

from nanscope.errors import ChildStop, NonFiniteError, Stop
from nanscope.ranks import together

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from nanscope.findings import Finding
    from nanscope.run.settings import Settings

STOPPED = "nanscope stopped the program: a non-finite value did harm"
STEPS_DONE = "the steps that were asked for are done"


# Called on the thread that did harm, before the program is stopped.
at_harm: list[Callable[[], object]] = []


class Stopping:
    """Asked by the adapter after a verdict, with the number of the finding.

    None instead of a number: the steps that were asked for are done. The exception is returned, not
    raised: so no frame of ours is in its traceback.
    """

    def __init__(self, settings: Settings, adapter: ModuleType) -> None:
        self.settings = settings
        self.adapter = adapter

    def __call__(self, number: int | None) -> BaseException | None:
        if number is None:
            return SystemExit(0) if self.settings.is_spawned else Stop(STEPS_DONE)
        for tell in at_harm:
            tell()
        return self.for_finding(lambda: finding_of(self.adapter, number))

    def for_finding(self, finding: Callable[[], Finding]) -> BaseException | None:
        """`finding` is asked for where it is needed: it is long."""
        on_error, child = self.settings.on_error, self.settings.is_spawned
        if on_error == "go_on":
            return None
        together.stop_others()
        if on_error == "stop" and not child:
            return stop(child)
        found = finding()
        sentence = sentence_of(found)
        if on_error == "stop":
            self.settings.stop_raised = True
            return ChildStop(sentence, found)
        if self.settings.pdb and not child:  # the standard input of a child is not the terminal
            from nanscope.run import debugger

            return debugger.open_at_the_users_frame(sentence)
        return NonFiniteError(sentence, found)


def stop(child: bool) -> BaseException:
    """What ends a program without a word about the finding."""
    return ChildStop(STOPPED) if child else Stop(STOPPED)


def finding_of(adapter: ModuleType, number: int) -> Finding:
    """An error of the session."""
    import json

    from nanscope.findings import Finding

    return Finding.from_json(json.loads(adapter.error_number(number).json()))


def sentence_of(finding: Finding) -> str:
    """`aten::log made -inf at train.py:41:17: torch.log(p)`"""
    origin = finding.origin
    site = origin.site
    made = "brought" if origin.kind == "imported" else "made"
    maker = "an unwatched kernel" if origin.kind == "unwatched" else origin.op
    text = f"{maker} {made} {origin.value} at {site.file}:{site.line}"
    if site.code:
        text += f":{site.col + 1}: {' '.join(site.code.split())}"
    return f"{text} ({finding.cause.id})"
