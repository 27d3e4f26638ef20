"""Runs a program under the installed nanscope and reads its finding, as a user would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import jsonschema

ROOT = Path(__file__).resolve().parent.parent
NANSCOPE = Path(sysconfig.get_path("scripts")) / "nanscope"
SCHEMA = json.loads((ROOT / "docs" / "finding.schema.json").read_text())
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


@dataclass
class Watched:
    status: int
    out: str
    err: str
    report: dict

    def first(self, *levels: str) -> dict | None:
        found = self.report["findings"]
        return next((f for level in levels for f in found if f["level"] == level), None)

    @property
    def error(self) -> dict:
        finding = self.first("error")
        assert finding is not None, f"no error found; stderr: {self.err}"
        return finding


def refuse_constant(word: str):
    raise ValueError(f"{word} is not JSON")


def read_report(text: str) -> dict:
    """Strict JSON that fits the schema."""
    report = json.loads(text, parse_constant=refuse_constant)
    jsonschema.validate(report, SCHEMA)
    return report


def watch(script: Path | str, folder: Path, *options: str, args: tuple[str, ...] = ()) -> Watched:
    """`nanscope run` in `folder`; a script given as text is written there first."""
    if isinstance(script, str):
        (folder / "program.py").write_text(script)
        script = folder / "program.py"
    report = folder / "finding.json"
    command = [NANSCOPE, "run", "--json", report, *options, script, *args]
    done = subprocess.run(
        command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=300
    )
    assert report.exists(), f"no JSON; status {done.returncode}; {done.stdout}{done.stderr}"
    return Watched(done.returncode, done.stdout, done.stderr, read_report(report.read_text()))


def run_plain(script: Path, folder: Path) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, script],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=300,
    )


def python_without_blank(folder: Path) -> Path:
    """This Python by another path: inductor's linker cannot do with a blank in that of torch."""
    environment = folder / "environment"
    if not environment.exists():
        environment.symlink_to(sys.prefix)
    return environment / "bin" / "python"


def read_capture(path: Path) -> list[dict]:
    """The findings of a capture, by `nanscope dump`; it must be readable, if cut off."""
    command = [NANSCOPE, "dump", path.name]
    done = subprocess.run(command, cwd=path.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in done.stdout.splitlines()]
    return [record["payload"] for record in records if record["type"] == "finding"]
