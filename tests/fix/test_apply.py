"""Writing patched files: nothing but the text changes, and all files or none."""

from __future__ import annotations

import os
import stat
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from nanscope.fix.patch.source_file import Edit, SourceFile
from nanscope.fix.verb import apply

OLD, NEW = "log(p)", "log(p.clamp(min=1e-8))"


def patched(path: Path) -> tuple[SourceFile, SourceFile]:
    """With OLD replaced by NEW, as a rewrite would do it."""
    before = SourceFile.read(os.path.realpath(path))
    begin = before.text.index(OLD)
    return before, before.with_edits([Edit(before.path, begin, begin + len(OLD), NEW)])


def write(folder: Path, *paths: Path) -> None:
    apply.write([patched(path) for path in paths], str(folder))


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob(".nanscope-*")]


# ---------------------------------------------------------------- the text
TEXTS = {
    "crlf": b"import torch\r\nx = log(p)\r\ny = 1\r\n",
    "mixed ends": b"a = 1\r\nx = log(p)\nb = 2\r\nc = 3\n",
    "byte order mark": b"\xef\xbb\xbf# \xc3\xa9\nx = log(p)\n",
    "latin-1": b"# -*- coding: latin-1 -*-\n# caf\xe9 \xff\nx = log(p)  # \xa0\n",
    "koi8-r": b"# coding: koi8-r\n# \xf0\xd2\xc9\nx = log(p)\n",
    "shift_jis": b"# coding: shift_jis\n# \x93\xfa\x96{\nx = log(p)\n",
    "no newline at the end": b"a = 1\nx = log(p)",
    "form feed and tabs": b"if 1:\n\tx = log(p)\t # \x0c\n\x0c\n",
    "blanks at the ends": b"x = log(p)   \n\n\n",
}


@pytest.mark.parametrize("data", TEXTS.values(), ids=TEXTS)
def test_only_the_expression_changes(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "train.py"
    path.write_bytes(data)
    write(tmp_path, path)
    assert path.read_bytes() == data.replace(OLD.encode(), NEW.encode())
    assert leftovers(tmp_path) == []


def test_a_text_that_cannot_be_written_again_is_not_touched(tmp_path: Path) -> None:
    """Two escape sequences in a row mean nothing, and are lost when it is decoded."""
    data = b"# coding: iso2022_jp\n# \x1b$B\x1b(B\nx = log(p)\n"
    with pytest.raises(UnicodeError):
        SourceFile(str(tmp_path / "train.py"), data)


# ---------------------------------------------------------------- the file
def source(path: Path, text: str = "x = log(p)\n") -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def test_hard_links_stay_one_file(tmp_path: Path) -> None:
    path, other = source(tmp_path / "train.py"), tmp_path / "other.py"
    os.link(path, other)
    before = path.stat()
    write(tmp_path, path)
    assert other.read_text() == path.read_text() == f"x = {NEW}\n"
    assert (path.stat().st_ino, path.stat().st_nlink) == (before.st_ino, 2)
    assert leftovers(tmp_path) == []


def test_a_file_becomes_shorter_in_place(tmp_path: Path) -> None:
    path = source(tmp_path / "train.py", "x = 1\n" * 1000)
    os.link(path, tmp_path / "other.py")
    before = SourceFile.read(str(path))
    apply.write([(before, SourceFile(str(path), b"x = 1\n"))], str(tmp_path))
    assert path.read_bytes() == b"x = 1\n"


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o664, 0o4755])
def test_permissions_stay(tmp_path: Path, mode: int) -> None:
    path = source(tmp_path / "train.py")
    path.chmod(mode)
    write(tmp_path, path)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert NEW in path.read_text()


def test_extended_attributes_stay(tmp_path: Path) -> None:
    path = source(tmp_path / "train.py")
    os.setxattr(path, "user.author", b"\x00anyone")
    write(tmp_path, path)
    assert NEW in path.read_text()
    assert os.getxattr(path, "user.author") == b"\x00anyone"


def test_an_access_control_list_stays(tmp_path: Path) -> None:
    """As setfacl -m u:12345:rw writes it; see acl_ea.h of Linux."""
    path = source(tmp_path / "train.py")
    nobody = 0xFFFFFFFF
    entries = [(1, 6, nobody), (2, 6, 12345), (4, 4, nobody), (16, 6, nobody), (32, 4, nobody)]
    data = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
    os.setxattr(path, "system.posix_acl_access", data)
    mode = path.stat().st_mode
    write(tmp_path, path)
    assert NEW in path.read_text()
    assert os.getxattr(path, "system.posix_acl_access") == data
    assert path.stat().st_mode == mode


def test_a_list_that_the_folder_would_give_is_not_given(tmp_path: Path) -> None:
    """A new file takes the default list of its folder; this one was there before."""
    path = source(tmp_path / "train.py")
    nobody = 0xFFFFFFFF
    entries = [(1, 7, nobody), (2, 7, 12345), (4, 5, nobody), (16, 7, nobody), (32, 5, nobody)]
    data = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
    os.setxattr(tmp_path, "system.posix_acl_default", data)
    write(tmp_path, path)
    assert NEW in path.read_text()
    assert "system.posix_acl_access" not in os.listxattr(path)


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    real = source(tmp_path / "src" / "train.py")
    link = tmp_path / "train.py"
    link.symlink_to("src/train.py")
    write(tmp_path, link)
    assert os.readlink(link) == "src/train.py"
    assert real.read_text() == f"x = {NEW}\n"


# ---------------------------------------------------------------- all or none
def refused(folder: Path, *paths: Path) -> str:
    """Its one sentence; nothing is changed."""
    before = {path: path.read_bytes() for path in paths}
    with pytest.raises(apply.Refused) as error:
        write(folder, *paths)
    assert {path: path.read_bytes() for path in paths} == before
    assert leftovers(folder) == []
    text = str(error.value)
    assert "\n" not in text and text.endswith("nothing was written.")
    return text


def test_a_file_that_is_read_only_stops_all(tmp_path: Path) -> None:
    first, second = source(tmp_path / "a.py"), source(tmp_path / "b.py")
    second.chmod(0o444)
    assert "b.py is read-only" in refused(tmp_path, first, second)


def test_a_file_outside_stops_all(tmp_path: Path) -> None:
    first, second = source(tmp_path / "project" / "a.py"), source(tmp_path / "b.py")
    assert "b.py lies outside" in refused(tmp_path / "project", first, second)


def test_a_file_that_changed_stops_all(tmp_path: Path) -> None:
    first, second = source(tmp_path / "a.py"), source(tmp_path / "b.py")
    pairs = [patched(first), patched(second)]
    second.write_text("y = log(p)\n")
    with pytest.raises(apply.Refused, match="has changed"):
        apply.write(pairs, str(tmp_path))
    assert (first.read_text(), second.read_text()) == ("x = log(p)\n", "y = log(p)\n")


FULL = """
import resource, signal, sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from test_apply import apply, patched
folder = Path({folder!r})
pairs = [patched(folder / name) for name in ("a.py", "b.py")]
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
try:
    apply.write(pairs, str(folder))
except apply.Refused as error:
    print(error)
"""


@pytest.mark.parametrize("linked", [False, True], ids=["replaced", "in place"])
def test_no_room_for_the_second_file(tmp_path: Path, linked: bool) -> None:
    """A limit of the process: writes beyond it fail, as on a full disk."""
    text = "x = log(p)\n" + "# a long file\n" * 500
    names = source(tmp_path / "a.py"), source(tmp_path / "b.py", text)
    if linked:
        for path in names:
            os.link(path, path.with_suffix(".link"))
    program = FULL.format(tests=str(Path(__file__).parent), folder=str(tmp_path), limit=len(text))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.count("\n") == 1, done.stderr
    assert "b.py could not be written: File too large; nothing is changed." in done.stdout
    assert [path.read_text() for path in names] == ["x = log(p)\n", text]
    assert leftovers(tmp_path) == []
