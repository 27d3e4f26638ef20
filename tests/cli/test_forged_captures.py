"""Captures from strangers: nothing of them runs, no file outside is read or written, none of their
characters controls the terminal, and every answer is a report or one sentence.
"""

from __future__ import annotations

import copy
import subprocess
from collections.abc import Callable
from pathlib import Path

import forged
import pytest

from watched import ENVIRONMENT, NANSCOPE

PROGRAM = """\
import sys, torch
print("owned", sys.argv[1:], flush=True)
w = torch.ones(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
p = w * 0
p.log().sum().backward()
opt.step()
"""
SECRET = "the secret of another folder"
Records = list[tuple[int, dict]]


def with_file(path: str) -> Callable[[Records], Records]:
    return lambda records: forged.every_text(
        records, lambda text: path if text == "a.py" else text.replace("a/a.py", "a/" + path)
    )


def with_argv(*words: object) -> Callable[[Records], Records]:
    def change(records: Records) -> Records:
        for kind, record in records:
            if kind == forged.TYPES["program"]:
                record["argv"] = list(words)
        return records

    return change


def with_texts(change: Callable[[str], object]) -> Callable[[Records], Records]:
    return lambda records: [(kind, forged.every_text(record, change)) for kind, record in records]


def with_numbers(change: Callable[[float], object]) -> Callable[[Records], Records]:
    return lambda records: [(kind, forged.every_number(record, change)) for kind, record in records]


def with_field(name: str, value: object) -> Callable[[Records], Records]:
    """Wherever a record or a part of it has this field."""

    def change(item: object) -> object:
        if isinstance(item, list | tuple):
            return type(item)(change(part) for part in item)
        if isinstance(item, dict):
            return {key: value if key == name else change(part) for key, part in item.items()}
        return item

    return change


def without(field: str) -> Callable[[Records], Records]:
    return lambda records: [
        (kind, {key: part for key, part in record.items() if key != field})
        for kind, record in records
    ]


def nested(records: Records) -> Records:
    deep: object = "end"
    for _ in range(300):
        deep = [deep]
    return [(kind, {**record, "chain": deep}) for kind, record in records]


ESCAPES = "\x1b]0;owned\x07\x1b[2J\x1b[31m\x9b2J\r\x08\u202e"
FORGERIES: dict[str, Callable[[Records], Records]] = {
    "outside": with_file("../outside/secret.py"),
    "absolute": with_file("/etc/passwd"),
    "link": with_file("link.py"),
    "device": with_file("/dev/stdin"),
    "folder": with_file("."),
    "changed": with_file("changed.py"),
    "newline": with_file("a.py\n+++ b/../outside/secret.py"),
    "option": with_file("--apply"),
    "escapes": with_texts(lambda text: text + ESCAPES),
    "nul": with_texts(lambda text: text[:3] + "\x00" + text[3:]),
    "not UTF-8": with_texts(lambda text: forged.Bytes(text.encode() + b"\xff\xfe\xc3")),
    "surrogates": with_texts(lambda text: text + "\ud800"),
    "long": with_texts(lambda text: text * 20000),
    "empty": with_texts(lambda _: ""),
    "markup": with_texts(lambda text: text + "</script><img src=x onerror=alert(1)>::error::%0A"),
    "huge": with_numbers(lambda _: 2**63 - 1),
    "huger": with_numbers(lambda _: 2**64 - 1),
    "negative": with_numbers(lambda _: -(2**63)),
    "not finite": with_numbers(lambda _: float("nan")),
    "words for numbers": with_numbers(lambda _: "many"),
    "numbers for words": with_texts(lambda _: 7),
    "option-like command": with_argv("-c", "print('owned')"),
    "script named like an option": with_argv("--yes", "--apply"),
    "shell": with_argv("a.py; touch owned", "$(touch owned)", "`touch owned`", "|", ">", "owned"),
    "escapes in the command": with_argv("a.py", ESCAPES, "\n", "\x00"),
    "no command": with_argv(),
    "command outside": with_argv("../outside/secret.py"),
    "module": with_argv("-m", "http.server"),
    "out of range": with_field("links_back", 10**9),
    "lines out of range": with_field("line", 10**9),
    "columns that cross": lambda records: with_field("end_col", -5)(
        with_field("col", 10**6)(records)
    ),
    "number of a finding": with_field("finding", 10**6),
    "list for a map": with_field("site", [[]]),
    "map for a list": with_field("inputs", {"a": 1}),
    "without argv": without("argv"),
    "without a level": without("level"),
    "nested": nested,
    "twice": lambda records: records * 300,
    "only the end": lambda records: [record for record in records if record[0] == 4],
}
FORMATS = ("html", "text", "json", "sarif", "github", "csv", "trace")
COMMANDS = (
    ("show", "x.nsc"),
    ("show", "-v", "x.nsc"),
    ("stats", "x.nsc"),
    ("dump", "x.nsc"),
    *(("report", "x.nsc", "--to", to) for to in FORMATS),
    ("fix", "--from", "x.nsc", "--apply"),
    ("fix", "--from", "x.nsc", "--max-runs", "0"),
)
FEW = ("outside", "escapes", "shell")


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("real")
    (folder / "a.py").write_text(PROGRAM)
    command = [NANSCOPE, "run", "-q", "-o", "real.nsc", "a.py"]
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, timeout=300)
    assert done.returncode == 3, done.stderr
    return folder / "real.nsc"


def contents_of(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def complaints_of(command: tuple[str, ...], folder: Path) -> list[str]:
    done = subprocess.run(
        [NANSCOPE, command[0], "--no-color", *command[1:]],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=120,
    )
    out, err = done.stdout, done.stderr
    wrong = []
    if done.returncode not in (0, 2, 3, 4):
        wrong.append(f"status {done.returncode}: {err[-300:]!r}")
    if b"Traceback" in err or (done.returncode == 2 and err.count(b"\n") > 3):
        wrong.append(f"more than a sentence: {err[-300:]!r}")
    controls = {byte for byte in out + err if (byte < 32 and byte not in b"\n\t") or byte == 127}
    shown = (out + err).decode(errors="replace")
    controls |= {ord(sign) for sign in shown if "\x80" <= sign <= "\x9f" or sign == "\u202e"}
    if controls:
        wrong.append(f"controls: {sorted(controls)}")
    if SECRET.encode() in out + err or b"root:x:0" in out + err:
        wrong.append("a file outside was shown")
    if b"owned [" in out + err:
        wrong.append("the program was run")
    return [f"{' '.join(command)}: {text}" for text in wrong]


def complaints_about(name: str, real: Path, folder: Path) -> list[str]:
    outside, inside = folder / "outside", folder / "inside"
    outside.mkdir()
    inside.mkdir()
    (outside / "secret.py").write_text(f"# {SECRET}\n" + PROGRAM)
    (inside / "a.py").write_text(PROGRAM)
    (inside / "changed.py").write_text("# another line\n" + PROGRAM)
    (inside / "link.py").symlink_to(outside / "secret.py")
    forged.write(inside / "x.nsc", FORGERIES[name](copy.deepcopy(forged.records_of(real))), real)
    before = contents_of(folder)
    found = [text for command in COMMANDS for text in complaints_of(command, inside)]
    after = contents_of(folder)
    # The page that was asked for; and `fix` adds what it found to the capture it was given.
    assert after.pop("inside/x.nsc").startswith(before.pop("inside/x.nsc"))
    after.pop("inside/x.html", None)
    return found + [f"{path} was written" for path in after if before.get(path) != after[path]]


@pytest.mark.parametrize("name", FEW)
def test_a_forged_capture_does_nothing(name: str, real: Path, tmp_path: Path) -> None:
    assert complaints_about(name, real, tmp_path) == []


@pytest.mark.release
@pytest.mark.parametrize("name", [name for name in FORGERIES if name not in FEW])
def test_no_forged_capture_does_anything(name: str, real: Path, tmp_path: Path) -> None:
    assert complaints_about(name, real, tmp_path) == []
