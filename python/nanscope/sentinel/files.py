"""The files of a woken snapshot: each is where it was, and what is written goes nowhere.

A fork shares open files, their positions too: a copy that reads on would take the lines away from
the program, and find itself where the program is by now. So the places are noted before the fork,
and a woken copy opens every file again.
"""

from __future__ import annotations

import os
import re
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_COPIED = 256 << 20
NOT_FILES = {
    "autofs",
    "binfmt_misc",
    "bpf",
    "cgroup",
    "cgroup2",
    "configfs",
    "debugfs",
    "devpts",
    "devtmpfs",
    "efivarfs",
    "fusectl",
    "hugetlbfs",
    "mqueue",
    "nsfs",
    "proc",
    "pstore",
    "securityfs",
    "sysfs",
    "tracefs",
}


class OpenFile:
    """A descriptor as it stood when the snapshot was taken."""

    def __init__(self, number: int, flags: int, place: int) -> None:
        self.number = number
        self.flags = flags
        self.place = place

    @property
    def written(self) -> bool:
        return self.flags & os.O_ACCMODE != os.O_RDONLY


def open_files() -> list[OpenFile]:
    files = []
    for name in os.listdir("/proc/self/fd"):
        try:
            with open(f"/proc/self/fdinfo/{name}", encoding="ascii") as file:
                lines = dict(line.split(":", 1) for line in file)
        except (OSError, ValueError):
            continue  # the one that listed them
        files.append(OpenFile(int(name), int(lines["flags"], 8), int(lines["pos"])))
    return files


def open_anew(files: list[OpenFile], ours: set[int]) -> None:
    """Only what needs it: what is neither file, pipe nor socket (an epoll) is left alone."""
    for file in files:
        if file.number in ours:
            continue
        try:
            kind = os.fstat(file.number).st_mode
        except OSError:
            continue
        if stat.S_ISREG(kind):
            _open_anew(file)
        elif stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind) or stat.S_ISCHR(kind):
            _put(os.open(os.devnull, os.O_RDWR), file)


def _open_anew(file: OpenFile) -> None:
    if file.written:
        new = _private_copy(file)
    else:
        new = os.open(f"/proc/self/fd/{file.number}", os.O_RDONLY)
    try:
        os.lseek(new, file.place, os.SEEK_SET)
    except OSError:
        pass
    _put(new, file)


def _private_copy(file: OpenFile) -> int:
    """As long as the original; with its contents, if they could be read through it."""
    import fcntl

    new = os.memfd_create("nanscope-replay")
    size = os.fstat(file.number).st_size
    if file.flags & os.O_ACCMODE == os.O_RDWR and size <= MOST_COPIED:
        done = 0
        while done < size:
            part = os.pread(file.number, 1 << 20, done)
            if not part:
                break
            done += os.pwrite(new, part, done)
    else:
        os.ftruncate(new, size)
    fcntl.fcntl(new, fcntl.F_SETFL, file.flags & os.O_APPEND)
    return new


def _put(new: int, file: OpenFile) -> None:
    inheritable = not file.flags & os.O_CLOEXEC
    os.dup2(new, file.number, inheritable=inheritable)
    os.close(new)


def places_to_cover() -> list[str]:
    """Every folder at the top, and every place where something else is mounted below."""
    mounted = dict(_mounts())
    top = [entry.path for entry in os.scandir("/") if entry.is_dir(follow_symlinks=False)]
    places = [path for path in top if path not in mounted]
    places += [path for path, kind in mounted.items() if path != "/" and kind not in NOT_FILES]
    return sorted(
        (path for path in places if os.path.isdir(path)), key=lambda path: path.count("/")
    )


def _mounts() -> Iterator[tuple[str, str]]:
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            before, _, after = line.partition(" - ")
            path = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), before.split()[4])
            yield path, after.split()[0]
