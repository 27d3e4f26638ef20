"""The captures of many ranks as one report."""

from __future__ import annotations

from nanscope import _core
from nanscope.telling.stack import display_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nanscope.ranks.together import End
    from nanscope.run.ending import Ending
    from nanscope.run.news import News

STOPPED = "found no error of its own, and was stopped with the others"
FAILED = "found no error of its own; its program ended by an exception when the others stopped"
NOT_SEEN = "has not said how it ended: it was killed, or hangs, or is not watched"

Line = tuple[int, str, int, str]  # rank, host, pid, sentence


def sentence_on_end(capture: _core.Capture, ending: Ending) -> str:
    if capture.error:
        return ""  # its capture says it
    return FAILED if ending.kind == "exception" else STOPPED


def of_ends(ends: list[End], missing: list[int]) -> _core.Capture | None:
    """In the rank that tells of all; None if no rank found an error."""
    found = [end for end in ends if end.capture]
    captures = [(_core.Capture.from_bytes(e.capture), display_path(e.path)) for e in found]
    if not captures:
        return None
    also: list[Line] = [(e.rank, e.host, e.pid, e.sentence) for e in ends if not e.capture]
    also += [(rank, "", 0, NOT_SEEN) for rank in missing]
    return _core.Capture.merged(captures, also)


def of_news(news: News) -> _core.Capture | None:
    """In the process that started the ranks; None if none of them found an error."""
    ended, joined = news.ended(), news.joined()
    ranks = {pid: rank for pid, rank in joined.values() if rank is not None}
    ranks.update({pid: end["rank"] for pid, end in ended.items() if end["rank"] is not None})
    captures = []
    for pid, path in news.read():
        capture = _read(path)
        if pid in ranks and capture is not None:
            if capture.rank is None:
                capture.rank = ranks[pid]
            captures.append((pid, capture, path))
    if not captures:
        return None
    told = {pid for pid, _, _ in captures}
    also: list[Line] = []
    for pid, rank in ranks.items():
        if pid not in told:
            also.append((rank, "", pid, STOPPED if pid in ended else NOT_SEEN))
    return _core.Capture.merged([(one, display_path(path)) for _, one, path in captures], also)


def _read(path: str) -> _core.Capture | None:
    try:
        return _core.Capture.read(path)
    except Exception:
        return None
