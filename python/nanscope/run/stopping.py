"""What happens on the thread that did harm: the exception to raise, or none."""

from __future__ import annotations

from nanscope.errors import ChildStop, NonFiniteError, Stop

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from nanscope.run.settings import Settings

STOPPED = "nanscope stopped the program: a non-finite value did harm"


class Stopping:
    """Asked by the adapter after a verdict, with the number of the finding.

    None instead of a number: the steps that were asked for are done. The exception is returned, not
    raised: so no frame of ours is in its traceback.
    """

    def __init__(self, settings: Settings, adapter: ModuleType) -> None:
        self.settings = settings
        self.adapter = adapter

    def __call__(self, number: int | None) -> BaseException | None:
        child = self.settings.is_child
        if number is None:
            return SystemExit(0) if child else Stop("the steps that were asked for are done")
        if self.settings.on_error == "stop" and not child:
            return Stop(STOPPED)
        import json

        finding = json.loads(self.adapter.finding_json(number))
        if self.settings.on_error == "stop":
            from nanscope.findings import Finding

            return ChildStop(sentence_of(finding), Finding.from_json(finding))
        if self.settings.pdb and not child:  # the standard input of a child is not the terminal
            from nanscope.run import debugger

            return debugger.open_at_the_users_frame(sentence_of(finding))
        from nanscope.findings import Finding

        return NonFiniteError(sentence_of(finding), Finding.from_json(finding))


def sentence_of(finding: dict) -> str:
    """`aten::log made -inf at train.py:41:17: torch.log(p)`"""
    origin, cause = finding["origin"], finding["cause"]
    site = origin["site"]
    made = "brought" if origin["kind"] in ("imported", "unwatched") else "made"
    text = f"{origin['op']} {made} {origin['value']} at {site['file']}:{site['line']}"
    if site["code"]:
        text += f":{site['col'] + 1}: {' '.join(site['code'].split())}"
    return f"{text} ({cause['id']})"
