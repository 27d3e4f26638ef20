"""Writes patched files: all of them or none, each as it was in all but the text.

A file is replaced at once by a new one that was written beside it, if that can be made the same in
owner, mode, ACL and other extended attributes. Where it cannot, and where the file has other names
(hard links), the text is written into the file itself. All that may fail for want of space or
permission comes first; what fails nevertheless is undone.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol

from nanscope.fix.patch.source_file import SourceFile


class Refused(Exception):
    """Why nothing was written."""


class _Write(Protocol):
    """One file on its way. `prepare` changes nothing that anyone sees."""

    path: str

    def prepare(self) -> None: ...
    def carry_out(self) -> None: ...
    def undo(self) -> None: ...
    def clean_up(self) -> None: ...


def write(
    pairs: list[tuple[SourceFile, SourceFile]], project: str, elsewhere: Sequence[str] = ()
) -> None:
    """(as it was read, as it is to be), below the project or in `elsewhere`. Raises Refused, and
    then nothing is changed.
    """
    for before, _ in pairs:
        _check(before, os.path.dirname(before.path) if before.path in elsewhere else project)
    writes: list[_Write] = []
    done: list[_Write] = []
    at = ""
    try:
        for before, after in pairs:
            at = before.path
            writes.append(_prepared(before, after.data))
        for one in writes:
            at = one.path
            done.append(one)
            one.carry_out()
    except BaseException as error:
        kept = _undo(done)
        if not isinstance(error, OSError):
            raise
        rest = f"{' and '.join(kept)} could not be put back" if kept else "nothing is changed"
        raise Refused(f"{at} could not be written: {error.strerror}; {rest}.") from None
    finally:
        for one in writes:
            one.clean_up()


def _undo(done: list[_Write]) -> list[str]:
    """Undoes each, whatever becomes of the others; gives the paths that could not be put back."""
    kept = []
    for one in reversed(done):
        try:
            one.undo()
        except OSError:
            kept.append(one.path)
    return kept


def _check(before: SourceFile, project: str) -> None:
    path, home = before.path, os.path.realpath(project)
    if os.path.commonpath([home, os.path.realpath(path)]) != home:
        raise Refused(f"{path} lies outside {home}; nothing was written.")
    try:
        with open(path, "rb") as file:
            now = file.read()
            mode = os.fstat(file.fileno()).st_mode
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror}; nothing was written.") from None
    if now != before.data:
        raise Refused(f"{path} has changed since it was read; nothing was written.")
    # Root may write what is marked as read-only, and so may whoever owns the folder.
    if not mode & 0o222 or not os.access(path, os.W_OK):
        raise Refused(f"{path} is read-only; nothing was written.")


def _prepared(before: SourceFile, data: bytes) -> _Write:
    """The way that suits this file."""
    if os.stat(before.path).st_nlink == 1:
        replaced = _Replaced(before.path, data)
        try:
            replaced.prepare()
            return replaced
        except _NotTheSame:
            replaced.clean_up()
        except BaseException:
            replaced.clean_up()
            raise
    rewritten = _Rewritten(before, data)
    rewritten.prepare()
    return rewritten


class _NotTheSame(Exception):
    """A new file cannot be made like the old one."""


class _Replaced:
    """A new file takes the place of the old one; the old one is kept until all is done."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data
        self.new = self.old = ""

    def prepare(self) -> None:
        folder = os.path.dirname(self.path)
        try:
            descriptor, self.new = tempfile.mkstemp(dir=folder, prefix=".nanscope-")
        except PermissionError:
            raise _NotTheSame from None  # a file that may be written in a folder that may not
        with os.fdopen(descriptor, "wb") as file:
            file.write(self.data)
            file.flush()
            _be_like(self.path, descriptor)
            os.fsync(descriptor)
        old = self.new + ".old"
        try:
            os.link(self.path, old)
        except OSError:
            raise _NotTheSame from None  # a file system without links
        self.old = old

    def carry_out(self) -> None:
        os.replace(self.new, self.path)

    def undo(self) -> None:
        os.replace(self.old, self.path)

    def clean_up(self) -> None:
        for name in (self.new, self.old):
            with suppress(OSError):
                os.unlink(name)


class _Rewritten:
    """The text is written into the file, which stays the same for all who have it."""

    def __init__(self, before: SourceFile, data: bytes) -> None:
        self.path = before.path
        self.before = before.data
        self.data = data
        self.descriptor = -1

    def prepare(self) -> None:
        self.descriptor = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)

    def carry_out(self) -> None:
        self._put(self.data)

    def undo(self) -> None:
        """Its old bytes are still its own: there is room for them."""
        self._put(self.before)

    def _put(self, data: bytes) -> None:
        written = 0
        while written < len(data):
            written += os.pwrite(self.descriptor, data[written:], written)
        os.ftruncate(self.descriptor, len(data))
        os.fsync(self.descriptor)

    def clean_up(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)


def _be_like(path: str, descriptor: int) -> None:
    """Owner, mode, ACL and other extended attributes of `path`; raises _NotTheSame."""
    wanted = os.stat(path)
    try:
        if (wanted.st_uid, wanted.st_gid) != (os.geteuid(), os.getegid()):
            os.fchown(descriptor, wanted.st_uid, wanted.st_gid)
        attributes = _attributes(path)
        for name, value in attributes.items():
            if _attributes(descriptor).get(name) != value:
                os.setxattr(descriptor, name, value)
        os.fchmod(descriptor, stat.S_IMODE(wanted.st_mode))  # last: a change of owner clears bits
        now = os.fstat(descriptor)
    except OSError:
        raise _NotTheSame from None
    same = (now.st_uid, now.st_gid, now.st_mode) == (wanted.st_uid, wanted.st_gid, wanted.st_mode)
    if not same or _attributes(descriptor) != attributes:
        raise _NotTheSame


def _attributes(file: str | int) -> dict[str, bytes]:
    """An ACL is one of them: system.posix_acl_access."""
    try:
        return {name: os.getxattr(file, name) for name in os.listxattr(file)}
    except OSError:
        return {}  # a file system without
