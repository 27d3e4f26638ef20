"""The captures of many ranks as one report."""

from __future__ import annotations

from nanscope import _core
from nanscope.ranks.replicas import differences
from nanscope.ranks.together import End
from nanscope.telling.stack import display_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nanscope.run.ending import Ending
    from nanscope.run.news import News

STOPPED = "found no error of its own, and was stopped with the others"
FAILED = "found no error of its own; its program ended by an exception"
ENDED = "found no error of its own"
NOT_SEEN = "has not said how it ended: it was killed, or still runs, or is not watched"

Line = tuple[int, str, int, str]  # rank, host, pid, sentence


def sentence_on_end(capture: _core.Capture, ending: Ending) -> str:
    if capture.error:
        return ""  # its capture says it
    return {"exception": FAILED, "stopped": STOPPED}.get(ending.kind, ENDED)


def of_ends(ends: list[End], missing: list[int], news: News | None) -> _core.Capture | None:
    """In the rank that tells of all; None if no rank found an error.

    `news`: of ranks that this one has started, which leave their captures if they are killed.
    """
    left = [] if news is None else [end for end in _ends_in(news) if end.rank in missing]
    silent = [rank for rank in missing if rank not in {end.rank for end in left}]
    return _merged(ends + left, [(rank, "", 0, NOT_SEEN) for rank in silent])


def of_news(news: News) -> _core.Capture | None:
    """In the process that started the ranks; None if none of them found an error."""
    ends = [End.read(data) for data in news.elsewhere()] + _ends_in(news)
    ended = news.ended()
    known = {end.rank for end in ends}
    also: list[Line] = []
    for pid, rank in reversed(_ranks_in(news).items()):  # of one that was started again, the last
        if rank not in known:
            also.append((rank, "", pid, ended[pid]["sentence"] if pid in ended else NOT_SEEN))
            known.add(rank)
    return _merged(ends, also)


def _ranks_in(news: News) -> dict[int, int]:
    """By pid."""
    ranks = {pid: rank for pid, rank in news.joined().values() if rank is not None}
    ended = news.ended().items()
    return ranks | {pid: end["rank"] for pid, end in ended if end["rank"] is not None}


def _ends_in(news: News) -> list[End]:
    """The ends of the ranks that found an error."""
    ranks, ended = _ranks_in(news), news.ended()
    ends = []
    for pid, path in news.read():
        capture = _read(path)
        if pid in ranks and capture is not None:
            capture.rank = ranks[pid] if capture.rank is None else capture.rank
            replicas = ended[pid]["replicas"] if pid in ended else None
            ends.append(End(capture.rank, "", pid, "", path, capture.to_bytes(), replicas))
    return ends


def _merged(ends: list[End], also: list[Line]) -> _core.Capture | None:
    found = [end for end in ends if end.capture]
    if not found:
        return None
    captures = [(_core.Capture.from_bytes(end.capture), display_path(end.path)) for end in found]
    lines = [(end.rank, end.host, end.pid, end.sentence) for end in ends if not end.capture]
    remarks = differences({end.rank: end.replicas for end in ends})
    return _core.Capture.merged(captures, lines + also, list(remarks.items()))


def _read(path: str) -> _core.Capture | None:
    try:
        return _core.Capture.read(path)
    except Exception:
        return None
