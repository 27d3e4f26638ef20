"""Files in memory that the processes of a run share: what children found, and who tells it.

Note [Lines of the news]: the processes of a run append whole lines to one file, each by one write,
and read it from its beginning. A line is one of

    PID PATH           a child found an error; its capture, or "-" if there is none
    PID !              what it had found was undone: the last such line of a child counts
    joined NAME PID RANK   another Python that the program started is watched; RANK may be "-"
    ended JSON         how such a Python ended: the keys are those of `end_in_news`
    elsewhere DATA .   how a rank of another launcher ended: its `End`, packed, in base64
    stopped            a rank found an error: all of them end
    closed             the process that began the run has read, and tells of no later line

The adapter writes the first two (`Session::announce`), Python all of the others, and reads all.
"""

from __future__ import annotations

import os
from json import dumps, loads

from nanscope import _core
from nanscope.run.conclusion import text_for
from nanscope.telling.stack import display_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nanscope.findings import Finding
    from nanscope.ranks.replicas import Replicas
    from nanscope.run.conclusion import Manner

    Origin = tuple[str, int, str]

OUT_OF_THE_WAY = 250  # a descriptor that programs do not count on
CLOSED = b"closed\n"  # a line of the process that began the run
STOPPED = "stopped"  # a line of ranks, of which one has found an error
OF_CHILD = "nanscope: a child process, pid {}, found an error: {}"
SAME_IN_CHILD = "nanscope: a child process, pid {}, found an error: {} (the one above)"
NOT_ENDED = "they did not say how they ended: they were killed, or still ran"
SILENT = "has not said how it ended: it was killed, or still runs."
IN_WORKER = "nanscope: an error in a worker of a data loader, pid {}."


def in_memory() -> tuple[int, str]:
    """A file that other processes open by its path as long as this one lives."""
    descriptor = _moved_up(os.memfd_create("nanscope", os.MFD_CLOEXEC))
    return descriptor, f"/proc/{os.getpid()}/fd/{descriptor}"


def process_of(path: str) -> int:
    """Whose file in memory it is."""
    return int(path.split("/")[2])


def _moved_up(low: int) -> int:
    for high in (OUT_OF_THE_WAY, OUT_OF_THE_WAY + 1):
        try:
            os.fstat(high)
        except OSError:
            try:
                os.dup2(low, high, inheritable=False)
            except OSError:
                return low
            os.close(low)
            return high
    return low


class News:
    """Children write a line when they have found an error; the run, when it has told of them."""

    def __init__(self) -> None:
        self.descriptor, self.path = in_memory()

    def read(self) -> list[tuple[int, str]]:
        """Pid and capture of each child that found an error."""
        return _lines(_text(self.descriptor))

    def joined(self) -> dict[str, tuple[int, int | None]]:
        return _joined(_text(self.descriptor))

    def ended(self) -> dict[int, dict]:
        """What each of them said at its end, by pid."""
        lines = _text(self.descriptor).decode("utf-8", "replace").splitlines()
        ends = [loads(line[6:]) for line in lines if line.startswith("ended {")]
        return {end["pid"]: end for end in ends}

    def elsewhere(self) -> list[bytes]:
        """What ranks said at their end that other launchers had started."""
        from base64 import b64decode
        from zlib import decompress

        lines = [line.split() for line in _text(self.descriptor).splitlines()]
        return [decompress(b64decode(line[1])) for line in lines if line[:1] == [b"elsewhere"]]

    def gaps(self) -> list[tuple[str, str, int]]:
        """What went unwatched in other Pythons, which keep no capture if they found no error."""
        ended = self.ended()
        found: dict[tuple[str, str], int] = {}
        for end in ended.values():
            for gap in end["coverage"]["not_watched"]:
                key = (gap["what"], gap["why"])
                found[key] = found.get(key, 0) + gap["count"]
        silent = sum(pid not in ended for pid, _ in self.joined().values())
        if silent:
            found["other Python processes", NOT_ENDED] = silent
        return [(what, why, count) for (what, why), count in found.items()]

    def summaries_of_ranks(self) -> list[str]:
        ended = self.ended()
        said = {pid: (end["rank"], end["summary"]) for pid, end in ended.items()}
        for pid, rank in self.joined().values():
            said.setdefault(pid, (rank, SILENT))
        ranks = sorted((rank, pid, text) for pid, (rank, text) in said.items() if rank is not None)
        return [f"nanscope: rank {rank}, pid {pid}: {text}" for rank, pid, text in ranks]

    def close(self) -> None:
        """Who comes later tells of it himself."""
        try:
            os.lseek(self.descriptor, 0, os.SEEK_END)
            os.write(self.descriptor, CLOSED)
        except OSError:  # the program closed it
            pass


def _text(descriptor: int) -> bytes:
    text = b""
    try:
        while more := os.pread(descriptor, 1 << 20, len(text)):
            text += more
    except OSError:
        pass  # the program closed it
    return text


def _lines(text: bytes) -> list[tuple[int, str]]:
    """Keeps the last line of each child; "!" takes back what was undone."""
    lines = [line.partition(" ") for line in text.decode("utf-8", "surrogateescape").splitlines()]
    last = {int(pid): path for pid, _, path in lines if pid.isdigit()}
    return [(pid, path) for pid, path in last.items() if path != "!"]


def joined(path: str, name: str, rank: int | None = None) -> None:
    """In a Python that the program started: it is watched. Again once it knows its rank."""
    said = os.environ.get("RANK", "") if rank is None else str(rank)
    _append(path, f"joined {name} {os.getpid()} {said if said.isdigit() else '-'}")


def _joined(text: bytes) -> dict[str, tuple[int, int | None]]:
    """Pid and rank of each Python that was started, by the name it was given."""
    found = {}
    for line in text.decode("utf-8", "replace").splitlines():
        word, _, rest = line.partition(" ")
        if word == "joined":
            name, pid, rank = rest.split()
            found[name] = (int(pid), None if rank == "-" else int(rank))
    return found


def joined_names(path: str) -> set[str]:
    return set(_joined(_read_all(path)))


def _read_all(path: str) -> bytes:
    """Reads a file that another process holds open; nothing if that process is gone."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return _text(descriptor)
    finally:
        os.close(descriptor)


def stopped_in_news(path: str) -> None:
    """In a rank: one of them has found an error, and all end."""
    _append(path, STOPPED)


def was_stopped(path: str) -> bool:
    """In a rank that a launcher starts again: whether that is in vain."""
    return STOPPED.encode() in _read_all(path).splitlines()


def bring(path: str, end: bytes) -> None:
    """In a rank: how one ended that another launcher had started."""
    from base64 import b64encode
    from zlib import compress

    _append(path, f"elsewhere {b64encode(compress(end)).decode()} .")


def end_in_news(
    path: str,
    capture: _core.Capture,
    file: str,
    sentence: str = "",
    replicas: Replicas | None = None,
) -> None:
    """At the end of such a Python: a line for the run."""
    from nanscope.findings import Report

    report = Report.of(capture)
    said = {
        "pid": os.getpid(),
        "rank": capture.rank,
        "summary": report.summary,
        "error": capture.error,
        "path": file,
        "coverage": report.coverage.to_json(),
        "sentence": sentence,
        "replicas": replicas,
    }
    _append(path, "ended " + dumps(said))


def _append(path: str, line: str) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
    except OSError:
        return  # the run is gone
    try:
        os.write(descriptor, line.encode("utf-8", "replace") + b"\n")
    finally:
        os.close(descriptor)


def is_left_to_the_run(path: str) -> bool:
    """In a child: whether the process that began the run will tell what this one announced."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        before, mark, _ = _text(descriptor).partition(CLOSED)
        return not mark or os.getpid() in [pid for pid, _ in _lines(before)]
    finally:
        os.close(descriptor)


class ChildrensErrors:
    """What children found, beside what the run itself did: a bug is told once."""

    def __init__(self, children: list[tuple[int, str]], own: _core.Capture) -> None:
        known = set(_origins(own)) if children else set()
        self.same: list[tuple[int, str]] = []
        self.others: list[tuple[int, str, _core.Capture | None]] = []
        for pid, path in children:
            capture = _open(path)
            origins = _origins(capture) if capture is not None else []
            if origins and known.issuperset(origins):
                self.same.append((pid, path))
            else:
                self.others.append((pid, path, capture))
            known.update(origins)

    def texts(self, manner: Manner) -> list[str]:
        """What workers of a data loader found: they leave the telling to the run."""
        texts = []
        for pid, _, capture in self.others:
            if capture is not None and _is_of_worker(capture):
                texts += [IN_WORKER.format(pid), text_for(capture, manner)]
        return texts

    def lines(self) -> list[str]:
        lines = [SAME_IN_CHILD.format(pid, display_path(path)) for pid, path in self.same]
        return lines + [OF_CHILD.format(pid, display_path(path)) for pid, path, _ in self.others]


def _open(path: str) -> _core.Capture | None:
    try:
        return _core.Capture.read(path)
    except Exception:
        return None  # it is written now, or there is none


def _errors(capture: _core.Capture) -> list[Finding]:
    from nanscope.findings import Report  # only where there are children: it takes 10 ms

    return Report.of(capture).of_level("error")


def _origins(capture: _core.Capture) -> list[Origin]:
    found = [finding.origin for finding in _errors(capture)]
    return [(one.site.file, one.site.line, one.op) for one in found]


def _is_of_worker(capture: _core.Capture) -> bool:
    return any(finding.origin.worker is not None for finding in _errors(capture))
