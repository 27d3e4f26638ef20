"""Programs that torch's compiler starts: g++, and a pool of workers that compile."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

MOST_SECONDS = 10.0  # to wait for a thread whose process has ended
_COMPILER = os.path.join("torch", "_inductor", "")


def is_compiler_at_work() -> bool:
    """Asked where a program is started: whether the compiler starts it."""
    frame = sys._getframe(1)
    while frame is not None:
        if _COMPILER in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


def end_workers() -> None:
    """Ends inductor's own threads and processes, that wait for more to compile: it starts others
    when it needs them. While they live, no copy of this process can be made.
    """
    compile_ahead = sys.modules.get("torch._inductor.async_compile")
    if compile_ahead is None:
        return
    try:
        _end_processes(compile_ahead)
        _end_threads(compile_ahead.AsyncCompile)
    except Exception:
        pass  # of a version that is not known: whoever asks for the threads will see them


def _end_processes(compile_ahead: ModuleType) -> None:
    readers = [getattr(pool, "read_thread", None) for pool in compile_ahead._pool_set]
    if not readers:
        return
    compile_ahead.shutdown_compile_workers()
    for reader in readers:
        if reader is not None:
            reader.join(MOST_SECONDS)


def _end_threads(pools: type) -> None:
    if pools.pool.cache_info().currsize:
        pools.pool().shutdown(wait=True)
        pools.pool.cache_clear()
