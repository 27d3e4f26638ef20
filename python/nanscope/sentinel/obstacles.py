"""Why a copy of this process could not run on: said before it is needed, not after."""

from __future__ import annotations

import os
import sys
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from nanscope.sentinel.connections import Connections

HARMLESS_THREADS = ("TMonitor",)  # tqdm's, which only draws
HARMLESS_NAMES = ("subproc_worker_timer",)  # inductor's, which only ends workers that have no work


def why_no_snapshot(torch: ModuleType, shared_memory: int, connections: Connections) -> str | None:
    """A reason, as it stands after "no snapshot can be taken: "."""
    if threading.current_thread() is not threading.main_thread():
        return "the training is not in the main thread"
    if torch.cuda.is_initialized():
        return "CUDA is in use, and cannot be forked"
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return "this process talks to other ranks"
    workers = _live_workers()
    if workers:
        return f"{workers} worker process{'es' if workers > 1 else ''} of multiprocessing at work"
    threads = _other_threads()
    if threads:
        return f"other threads are at work: {', '.join(threads[:3])}"
    peer = connections.talks_to()
    if peer:
        return f"the program talks to {peer}"
    if _shares_memory(shared_memory):
        return "memory is shared with other processes"
    return _no_room()


def _live_workers() -> int:
    process = sys.modules.get("multiprocessing.process")
    if process is None:
        return 0
    return sum(child.is_alive() for child in list(process._children))


def _other_threads() -> list[str]:
    return [
        _name_of(thread)
        for thread in threading.enumerate()
        if thread is not threading.main_thread()
        and type(thread).__name__ not in HARMLESS_THREADS
        and thread.name not in HARMLESS_NAMES
    ]


def _name_of(thread: threading.Thread) -> str:
    """With the package whose code it runs: trackers are known by their threads."""
    for code in (type(thread), getattr(thread, "_target", None)):
        package = (getattr(code, "__module__", None) or "").partition(".")[0]
        if package not in ("", "__main__", "threading"):
            return f"{thread.name} of {package}"
    return thread.name


def _shares_memory(own: int) -> bool:
    """Memory that a copy would not have for itself; a semaphore is only ever waited for."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            fields = line.split(None, 5)
            if fields[1][1] != "w" or fields[1][3] != "s":
                continue
            name = fields[5] if len(fields) > 5 else ""
            if "/sem." not in name and int(fields[0].split("-")[0], 16) != own:
                return True
    return False


def _no_room() -> str | None:
    needed, free = resident_bytes(), _free_bytes()
    if free is not None and free < needed:
        return f"{free >> 20} MB are free, and the program has {needed >> 20} MB"
    return None


def resident_bytes() -> int:
    """Memory that is this process's own: what libraries map from files is never copied."""
    with open("/proc/self/statm", encoding="ascii") as file:
        fields = file.read().split()
    return (int(fields[1]) - int(fields[2])) * os.sysconf("SC_PAGE_SIZE")


def _free_bytes() -> int | None:
    with open("/proc/meminfo", encoding="ascii") as file:
        lines = dict(line.split(":", 1) for line in file)
    free = int(lines["MemAvailable"].split()[0]) * 1024 if "MemAvailable" in lines else None
    try:
        with open("/sys/fs/cgroup/memory.max", encoding="ascii") as file:
            most = file.read().strip()
        with open("/sys/fs/cgroup/memory.current", encoding="ascii") as file:
            used = int(file.read())
    except (OSError, ValueError):
        return free
    if not most.isdigit():
        return free
    return min(int(most) - used, free if free is not None else sys.maxsize)
