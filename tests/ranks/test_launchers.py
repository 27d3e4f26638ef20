"""Whoever starts the ranks, and however they end: one report, and nobody hangs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from watched import ENVIRONMENT, NANSCOPE, ROOT, read_report

LAUNCHED = Path(__file__).parent / "launched"
PACKAGES = ROOT / ".venv" / "packages"
TORCHRUN = ["torch.distributed.run", "--standalone", "--nproc-per-node"]
LIMIT_S = 900  # against a hang, never reached otherwise


def environment(with_packages: bool = False) -> dict[str, str]:
    values = {**ENVIRONMENT, "OMP_NUM_THREADS": "1"}
    if with_packages:
        [site] = PACKAGES.glob("lib/python3*/site-packages")
        values |= {"PYTHONPATH": os.fspath(site), "HF_HUB_OFFLINE": "1"}
    return values


def run(
    folder: Path, *command: object, with_packages: bool = False
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=environment(with_packages),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )


def line_of(program: Path) -> int:
    lines = program.read_text().splitlines()
    [line] = [number for number, text in enumerate(lines, 1) if text.endswith("# origin")]
    return line


def check(folder: Path, program: Path, rank: int, cause: str, ranks: int, stderr: str) -> None:
    """The report in `report.json` is that of all ranks, and it was shown once."""
    assert stderr.count("First Bad Operation") == 1, stderr
    report = read_report((folder / "report.json").read_text())
    [error] = [finding for finding in report["findings"] if finding["level"] == "error"]
    site = error["origin"]["site"]
    assert (Path(site["file"]).name, site["line"]) == (program.name, line_of(program))
    assert (error["origin"]["rank"], error["cause"]["id"]) == (rank, cause)
    sentences = {line["rank"]: line["sentence"] for line in report["ranks"]}
    assert sorted(sentences) == list(range(ranks))
    for other, sentence in sentences.items():
        if other != rank:
            assert "received" in sentence or "no error of its own" in sentence, sentence


def test_ranks_of_spawn_are_told_once(tmp_path: Path) -> None:
    program = LAUNCHED / "spawned.py"
    done = run(tmp_path, NANSCOPE, "run", "--json", "report.json", program, 2)
    assert done.returncode == 3, done.stderr
    check(tmp_path, program, 1, "log_of_negative", 2, done.stderr)


@pytest.mark.release
def test_four_ranks_of_spawn(tmp_path: Path) -> None:
    program = LAUNCHED / "spawned.py"
    done = run(tmp_path, NANSCOPE, "run", "--json", "report.json", program, 4)
    assert done.returncode == 3, done.stderr
    check(tmp_path, program, 3, "log_of_negative", 4, done.stderr)


@pytest.mark.release
@pytest.mark.parametrize(
    ("name", "cause", "words"),
    [
        ("lightning_ddp", "log_of_zero", []),
        ("transformers_trainer", "division_by_zero", ["--nproc", "2"]),
        (
            "accelerate_loop",
            "sqrt_of_negative",
            # Without a device of its own, the launcher starts ranks on the CPU as well.
            ["-m", "accelerate.commands.launch", "--multi_gpu", "--main_process_port", "0"]
            + ["--num_processes", "2", "--num_machines", "1", "--mixed_precision", "no"]
            + ["--dynamo_backend", "no"],
        ),
    ],
)
def test_launchers_of_packages(name: str, cause: str, words: list[str], tmp_path: Path) -> None:
    program = LAUNCHED / f"{name}.py"
    command = [NANSCOPE, "run", "--json", "report.json", *words, program]
    done = run(tmp_path, *command, with_packages=True)
    assert done.returncode == 3, done.stderr
    check(tmp_path, program, 1, cause, 2, done.stderr)


@pytest.mark.release
def test_ranks_that_are_started_again_end_at_once(tmp_path: Path) -> None:
    program = LAUNCHED / "restarted.py"
    restarting = [*TORCHRUN, 2, "--max-restarts", 2]
    done = run(tmp_path, NANSCOPE, "run", "--json", "report.json", "-m", *restarting, program)
    assert done.returncode == 3, done.stderr
    check(tmp_path, program, 1, "log_of_zero", 2, done.stderr)
    assert [(tmp_path / f"starts.{rank}").read_text() for rank in (0, 1)] == ["1", "1"]

    in_front = tmp_path / "in_front"
    in_front.mkdir()
    launcher = [sys.executable, "-m", *restarting, "--no-python"]
    done = run(in_front, *launcher, NANSCOPE, "run", program)
    assert done.returncode == 1, done.stderr
    assert done.stderr.count("First Bad Operation") == 1, done.stderr
    assert (in_front / "starts.1").read_text() == "111"
    assert not list(in_front.glob("trained.*"))


def test_a_rank_that_is_killed_is_said(tmp_path: Path) -> None:
    program = LAUNCHED / "killed_in_the_middle.py"
    done = run(tmp_path, NANSCOPE, "run", "--nproc", 2, "--json", "report.json", program)
    assert done.returncode not in (0, 3), done.stderr
    assert "NOT FULLY WATCHED" in done.stderr and "rank 1" in done.stderr, done.stderr
    assert read_report((tmp_path / "report.json").read_text())["verdict"] == "unknown"


@pytest.mark.release
@pytest.mark.parametrize("ranks", [2, 4])
def test_weights_are_the_same_bits(ranks: int, tmp_path: Path) -> None:
    weights = []
    for name, command in (
        ("plain", [sys.executable, "-m", *TORCHRUN, ranks]),
        ("watched", [NANSCOPE, "run", "-q", "--nproc", ranks]),
    ):
        folder = tmp_path / name
        folder.mkdir()
        done = run(folder, *command, LAUNCHED / "trained_weights.py")
        assert done.returncode == 0, done.stderr
        weights.append([(folder / f"weights.{rank}").read_bytes() for rank in range(ranks)])
    assert weights[0] == weights[1]


@pytest.mark.release
def test_two_hosts_know_of_each_other(tmp_path: Path) -> None:
    """Two launchers that share nothing but torch's store, each with two ranks."""
    import torch.distributed as dist

    store = dist.TCPStore("localhost", 0, is_master=True, wait_for_workers=False)
    where = ["--rdzv-backend", "c10d", "--rdzv-id", "hosts", "--rdzv-conf", "is_host=0"]
    where += ["--rdzv-endpoint", f"localhost:{store.port}", "--local-addr", "localhost"]
    launcher = ["torch.distributed.run", "--nnodes", "2", "--nproc-per-node", "2", *where]
    program = LAUNCHED / "restarted.py"
    hosts = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        command = [NANSCOPE, "run", "--json", "report.json", "-m", *launcher, program]
        hosts.append(
            subprocess.Popen(
                [str(word) for word in command],
                cwd=tmp_path / name,
                env=environment(),
                stderr=subprocess.PIPE,
                text=True,
            )
        )
    told = [host.communicate(timeout=LIMIT_S)[1] for host in hosts]
    assert [host.returncode for host in hosts] == [3, 3], told
    for name, stderr in zip(("one", "two"), told, strict=True):
        check(tmp_path / name, program, 1, "log_of_zero", 4, stderr)


@pytest.mark.release
def test_sentinel_on_ranks_accuses_nobody_wrongly(tmp_path: Path) -> None:
    program = Path(__file__).parent / "programs" / "ddp_log_of_zero.py"
    words = ["run", "--mode", "sentinel", "--nproc", 2, "--json", "report.json", program]
    done = run(tmp_path, NANSCOPE, *words)
    assert done.returncode == 3, done.stderr
    report = read_report((tmp_path / "report.json").read_text())
    errors = [finding for finding in report["findings"] if finding["level"] == "error"]
    assert {finding["origin"]["kind"] for finding in errors} == {"unwatched"}
    assert "without --mode sentinel" in done.stderr, done.stderr
    assert sorted(line["rank"] for line in report["ranks"]) == [0, 1]
    assert all("the origin" not in line["sentence"] for line in report["ranks"])
    assert "run again" not in done.stderr, "a launcher has nothing to replay"
