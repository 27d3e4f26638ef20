"""Writes patched files: all of them or none, each at once, as they were in all but the text."""

from __future__ import annotations

import os
import tempfile

from nanscope.fix.patch.source_file import SourceFile


class Refused(Exception):
    """Why nothing was written."""


def write(pairs: list[tuple[SourceFile, SourceFile]], project: str) -> None:
    """(as it was read, as it is to be). Raises Refused before anything is written."""
    for before, _ in pairs:
        _check(before, project)
    staged: list[tuple[str, str]] = []
    try:
        for before, after in pairs:
            staged.append((_stage(before.path, after.data), before.path))
        for new, path in staged:
            os.replace(new, path)
    except OSError as error:
        raise Refused(f"{error.filename} could not be written: {error.strerror}.") from None
    finally:
        for new, _ in staged:
            if os.path.exists(new):
                os.unlink(new)


def _check(before: SourceFile, project: str) -> None:
    home = os.path.realpath(project)
    if os.path.commonpath([home, os.path.realpath(before.path)]) != home:
        raise Refused(f"{before.path} lies outside {home}; nothing was written.")
    try:
        with open(before.path, "rb") as file:
            now = file.read()
    except OSError as error:
        raise Refused(f"{before.path} cannot be read: {error.strerror}.") from None
    if now != before.data:
        raise Refused(f"{before.path} has changed since it was read; nothing was written.")


def _stage(path: str, data: bytes) -> str:
    """A file beside it, with its mode and owner."""
    status = os.stat(path)
    descriptor, name = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".nanscope-")
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fchmod(descriptor, status.st_mode & 0o7777)
        if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
            try:
                os.fchown(descriptor, status.st_uid, status.st_gid)
            except PermissionError:
                pass  # ours now, as after any editor
        os.fsync(descriptor)
    return name
