"""Throws away what a repeat writes: an overlay in namespaces of its own.

Every folder of the root is covered by an overlay whose upper side is in memory and dies with the
process. /dev, /proc and /sys stay as they are, and so does the folder of our own exchange.
"""

from __future__ import annotations

import ctypes
import os

CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
UNTOUCHED = {"dev", "proc", "sys"}


class NotPossible(Exception):
    """Why the system does not allow it, in a few words."""


def enter(exchange: str) -> None:
    """From here on this process and its children write to memory, except below `exchange`.

    Raises NotPossible, and then the process must end: it may be half way in.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    here = os.getcwd()
    user, group = os.getuid(), os.getgid()
    _check(libc.unshare(CLONE_NEWUSER | CLONE_NEWNS), "namespaces")
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")
    _mount(libc, "none", "/", None, MS_REC | MS_PRIVATE)
    through = os.open(exchange, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    upper = os.path.join(exchange, "upper")
    os.makedirs(upper, exist_ok=True)
    _mount(libc, "tmpfs", upper, "tmpfs", 0)
    memory = os.open(upper, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)  # its name is covered soon
    count = 0
    for path in _folders_to_cover():
        if not _writable(path) or os.path.realpath(exchange) == path:
            continue
        count += 1
        _cover(libc, path, f"/proc/self/fd/{memory}/{count}")
    os.chdir(here)
    _mount(libc, f"/proc/self/fd/{through}", exchange, None, MS_BIND | MS_REC)
    os.close(through)
    os.close(memory)
    os.chdir(here)


def possible(exchange: str) -> str | None:
    """Tries it in a child. Says why it is not possible, or None."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            enter(exchange)
            os._exit(0)
        except BaseException as error:
            os.write(write, str(error).encode()[:200])
        finally:
            os._exit(1)
    os.close(write)
    with os.fdopen(read, "rb") as words:
        why = words.read().decode("utf-8", "replace")
    _, status = os.waitpid(child, 0)
    return None if status == 0 else why or "namespaces are not allowed here"


def _folders_to_cover() -> list[str]:
    entries = [e for e in os.scandir("/") if e.is_dir(follow_symlinks=False)]
    return sorted(f"/{e.name}" for e in entries if e.name not in UNTOUCHED)


def _writable(path: str) -> bool:
    """Whether anything in it could be written: a read-only system needs no cover."""
    return not os.statvfs(path).f_flag & os.ST_RDONLY


def _cover(libc, path: str, room: str) -> None:
    upper, work = os.path.join(room, "upper"), os.path.join(room, "work")
    os.makedirs(upper)
    os.makedirs(work)
    status = os.stat(path)
    os.chmod(upper, status.st_mode & 0o7777)
    options = f"lowerdir={path},upperdir={upper},workdir={work}"
    for more in (",userxattr", ""):
        if _try(libc, "overlay", path, "overlay", 0, options + more):
            return
    # Something is mounted below it that may not be shown twice: cover what stands beside that.
    for entry in sorted(os.scandir(path), key=lambda e: e.name):
        if entry.is_dir(follow_symlinks=False) and _writable(entry.path):
            _cover(libc, entry.path, os.path.join(room, entry.name))
        elif os.access(entry.path, os.W_OK) and entry.is_file(follow_symlinks=False):
            raise NotPossible(f"{entry.path} cannot be covered")


def _mount(libc, source: str, target: str, kind: str | None, flags: int) -> None:
    _check(0 if _try(libc, source, target, kind, flags, None) else -1, f"mounting {target}")


def _try(libc, source: str, target: str, kind: str | None, flags: int, data: str | None) -> bool:
    texts = [None if t is None else os.fsencode(t) for t in (source, target, kind, data)]
    return libc.mount(texts[0], texts[1], texts[2], ctypes.c_ulong(flags), texts[3]) == 0


def _check(result: int, what: str) -> None:
    if result != 0:
        raise NotPossible(f"{what}: {os.strerror(ctypes.get_errno())}")


def _write(path: str, text: str) -> None:
    try:
        with open(path, "w") as file:
            file.write(text)
    except OSError as error:
        if "setgroups" not in path:
            raise NotPossible(f"{path}: {error.strerror}") from None
