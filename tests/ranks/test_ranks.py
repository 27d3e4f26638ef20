"""Programs of many ranks under real torchrun and gloo: the origin is found on the rank where it is.

The truth about each program stands in its header: how many ranks; the origin's rank, operation,
cause and step, on the line that ends with `# origin`; or that it is healthy. Instead of a rank:
"any" of them, as torch chooses; "nobody", where the reduction overflowed; "reduction", where it
made a NaN of infinities. "harmed": a part of what the harmed tensor is called; "differs": the rank
and the parameter whose replica is not what the others have.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from watched import ENVIRONMENT, NANSCOPE, read_report

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))
IN_EVERY_SUITE = ("ddp_log_of_zero", "all_gather_features", "healthy_masks_and_skips")
ONE_THREAD = {**ENVIRONMENT, "OMP_NUM_THREADS": "1"}
WATCHDOG_S = 900


class Truth:
    def __init__(self, program: Path) -> None:
        lines = program.read_text().splitlines()
        header = "\n".join(line for line in lines if line.startswith("# "))
        self.ranks = int(re.search(r"^# ranks: (\d+)$", header, re.M).group(1))
        self.healthy = "# healthy" in header
        said = re.search(
            r"^# origin: (?:rank (\d+)|(\w+)), (\S+), (\S+), step (\d+)$", header, re.M
        )
        if said:
            self.rank = None if said.group(1) is None else int(said.group(1))
            self.who = said.group(2)
            self.op, self.cause, self.step = said.group(3), said.group(4), int(said.group(5))
            [self.line] = [i for i, line in enumerate(lines, 1) if line.endswith("# origin")]
        harmed = re.search(r"^# harmed: (.+)$", header, re.M)
        self.harmed = harmed.group(1) if harmed else ""
        differs = re.search(r"^# differs: (\d+), (\S+)$", header, re.M)
        self.differs = (int(differs.group(1)), differs.group(2)) if differs else None
        other = re.search(r"^# giver: (\d+)$", header, re.M)
        self.giver = int(other.group(1)) if other else None
        killed = re.search(r"^# killed: (\d+)$", header, re.M)
        self.killed = int(killed.group(1)) if killed else None


def run(folder: Path, *command: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=ONE_THREAD,
        capture_output=True,
        text=True,
        timeout=WATCHDOG_S,
    )


def check_origin(report: dict, truth: Truth, program: Path) -> None:
    errors = [finding for finding in report["findings"] if finding["level"] == "error"]
    origin, cause = errors[0]["origin"], errors[0]["cause"]
    seen = (origin["op"], cause["id"], origin["step"], origin["site"]["line"])
    assert seen == (truth.op, truth.cause, truth.step, truth.line)
    assert Path(origin["site"]["file"]).name == program.name
    assert truth.harmed in (errors[0]["harm"]["name"] or "")
    if truth.who in ("nobody", "reduction"):
        assert origin["kind"] == "received" and origin["collective"]["givers_known"]
        givers = [giver["rank"] for giver in origin["collective"]["givers"]]
        assert givers == ([] if truth.who == "nobody" else list(range(truth.ranks)))
        return
    if truth.who == "any":
        truth.rank = origin["rank"]
    assert origin["rank"] == truth.rank
    ranks = [finding["origin"]["rank"] for finding in errors]
    assert ranks == [truth.rank, *([] if truth.giver is None else [truth.giver])]


def check_others(report: dict, truth: Truth) -> None:
    lines = {line["rank"]: line["sentence"] for line in report["ranks"]}
    assert sorted(lines) == list(range(truth.ranks))
    for rank, sentence in lines.items():
        sentence, _, differs = sentence.partition("; its `")
        if truth.differs is None or truth.differs[0] != rank:
            assert not differs
        else:
            assert differs.startswith(truth.differs[1] + "`")
        if truth.killed == rank:
            assert "killed" in sentence
        elif rank == truth.rank:
            assert sentence.partition("; ")[0] == "the origin"
        elif truth.rank is None or rank == truth.giver:
            assert sentence == "the origin" or " made " in sentence or "received" in sentence
        else:
            assert "received" in sentence or "no error of its own" in sentence, sentence


def check(folder: Path, program: Path) -> None:
    truth = Truth(program)
    words = ["run", "--nproc", truth.ranks, "--json", "report.json", program]
    done = run(folder, NANSCOPE, *words)
    report = read_report((folder / "report.json").read_text())
    if truth.healthy:
        assert done.returncode == 0, done.stderr
        assert report["verdict"] == "clean", done.stderr
        assert not list(folder.glob("*.nsc"))
        return
    assert done.returncode == 3, done.stderr
    assert done.stderr.count("First Bad Operation") == 1 + (truth.giver is not None), done.stderr
    check_origin(report, truth, program)
    check_others(report, truth)


@pytest.mark.parametrize("name", IN_EVERY_SUITE)
def test_the_origin_is_named_once(name: str, tmp_path: Path) -> None:
    check(tmp_path, Path(__file__).parent / "programs" / f"{name}.py")


@pytest.mark.release
@pytest.mark.parametrize(
    "program", [p for p in PROGRAMS if p.stem not in IN_EVERY_SUITE], ids=lambda p: p.stem
)
def test_every_program(program: Path, tmp_path: Path) -> None:
    check(tmp_path, program)


@pytest.mark.release
@pytest.mark.parametrize("name", ["ddp_log_of_zero", "only_one_rank_is_harmed", "pipeline_of_four"])
def test_a_launcher_in_front_shows_one_report(name: str, tmp_path: Path) -> None:
    program = Path(__file__).parent / "programs" / f"{name}.py"
    truth = Truth(program)
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node"]
    done = run(tmp_path, *launcher, truth.ranks, "--no-python", NANSCOPE, "run", program)
    assert done.returncode == 1
    assert done.stderr.count("First Bad Operation") == 1, done.stderr
    assert f"rank {truth.rank}" in done.stderr and truth.cause in done.stderr
    assert re.search(rf"{program.name}:{truth.line}:\d+", done.stderr)

    captures = sorted(tmp_path.glob("*.nsc"))
    merged = run(tmp_path, NANSCOPE, "merge", "--json", *captures)
    assert merged.returncode == 0
    check_origin(read_report(merged.stdout), truth, program)
