"""Child processes: each is watched, writes a capture of its own and tells the run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from watched import ENVIRONMENT, NANSCOPE, read_capture, read_report

WAYS_BY_HAND = Path(__file__).with_name("ways_out.py")

# One program for all kinds: torch is imported once, and once more in each spawned child.
MANY = """
import multiprocessing as mp, os, sys, threading, torch

def square_root(x):
    return torch.sqrt(x)

def work(start, method):
    print(method, square_root(torch.tensor([start])).tolist(), flush=True)

def in_a_pool(start):
    return square_root(torch.tensor([start])).tolist()

def trains(start):
    w = torch.tensor([start], requires_grad=True)
    opt = torch.optim.SGD([w], lr=0.1)
    square_root(w).sum().backward()
    opt.step()
    return "trained"

def raises(start):
    y = square_root(torch.tensor([start]))
    raise ValueError("bad")

class Data(torch.utils.data.Dataset):
    def __len__(self): return 4
    def __getitem__(self, i): return square_root(torch.tensor([1.0 - i]))

def run(context, target, *args):
    child = context.Process(target=target, args=args)
    child.start()
    child.join()
    return child.exitcode

if __name__ == "__main__":
    for method in "fork", "spawn", "forkserver":
        context = mp.get_context(method)
        print(method, run(context, work, 4.0, method), run(context, work, -1.0, method), flush=True)
    fork = mp.get_context("fork")
    print("raises", run(fork, raises, -1.0), flush=True)
    print("trains", run(fork, trains, -1.0), flush=True)

    pid = os.fork()
    if pid == 0:
        kept = square_root(torch.tensor([-1.0]))
        os._exit(0)
    print("os.fork", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)

    with fork.Pool(1) as pool:
        print("pool", pool.map(in_a_pool, [4.0]))
        try:
            pool.map(trains, [-1.0])
        except ArithmeticError as error:
            print("pool raised", type(error).__name__, error.finding["origin"]["site"]["code"])

    batches = [batch.shape for batch in torch.utils.data.DataLoader(Data(), num_workers=1)]
    print("loader", len(batches))
"""


def run(folder: Path, text: str, *options: str) -> subprocess.CompletedProcess:
    (folder / "program.py").write_text(text)
    return subprocess.run(
        [NANSCOPE, "run", *options, "program.py"],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=900,
    )


def test_every_kind_of_child_finds_its_own_error(tmp_path: Path) -> None:
    done = run(tmp_path, MANY, "--json", "finding.json")
    assert done.returncode == 3, done.stderr
    assert done.stdout.splitlines() == [
        "fork [2.0]",
        "fork [nan]",
        "fork 0 0",
        "spawn [2.0]",
        "spawn [nan]",
        "spawn 0 0",
        "forkserver [2.0]",
        "forkserver [nan]",
        "forkserver 0 0",
        "raises 1",
        "trains 1",
        "os.fork 0",
        "pool [[2.0]]",
        "pool raised ChildStop torch.sqrt(x)",
        "loader 4",
    ]
    captures = sorted(tmp_path.glob("nanscope-program.*.nsc"))
    # fork, spawn, forkserver, raises, trains, os.fork, pool, loader
    assert len(captures) == 8, done.stderr
    workers = []
    for capture in captures:
        findings = [f for f in read_capture(capture) if f["level"] == "error"]
        assert [f["origin"]["site"]["code"] for f in findings] == ["torch.sqrt(x)"]
        assert f"found an error: {capture.name}" in done.stderr
        workers.append(findings[0]["origin"].get("worker"))
    assert workers.count(0) == 1 and workers.count(None) == 7

    # The run itself is not clean, and says where to look.
    report = read_report((tmp_path / "finding.json").read_text())
    assert report["verdict"] == "unknown" and report["program"]["exit_status"] == 3
    [gap] = report["coverage"]["not_watched"]
    assert gap["what"] == "child processes with errors of their own" and gap["count"] == 8


# Ways out of a child that was stopped: none of them is a success.
WAYS_OUT = """
import multiprocessing as mp, os, sys, torch

w = torch.ones(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)

def step(factor):
    opt.zero_grad()
    (w * factor).log().sum().backward()
    opt.step()

def exits(status):
    step(0)
    os._exit(status)

def exits_in_the_end(status):
    try:
        step(0)
    finally:
        os._exit(status)

def leaves_in_the_end(status):
    try:
        step(0)
    finally:
        sys.exit(status)

def catches(status):
    try:
        step(0)
    except BaseException:
        pass
    step(1)
    os._exit(status)

def goes_on_as_another(status):
    try:
        step(0)
    finally:
        os.execv("/bin/sh", ["sh", "-c", f"exit {status}"])

def has_a_child(status):
    step(1)
    os._exit(in_a_fork(exits, status))

def is_healthy(status):
    step(1)
    os._exit(status)

def in_a_fork(way, status):
    pid = os.fork()
    if pid == 0:
        way(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

def in_a_process(way, status):
    child = mp.get_context("fork").Process(target=way, args=(status,))
    child.start()
    child.join()
    return child.exitcode

for _ in range(3):
    step(1)
for way in (
    exits, exits_in_the_end, leaves_in_the_end, catches, goes_on_as_another, has_a_child, is_healthy
):
    seen = [run(way, n) for n in (0, 7) for run in (in_a_fork, in_a_process)]
    print(way.__name__, *seen, flush=True)
"""


@pytest.mark.parametrize("mode", ["exact", "sentinel"])
def test_a_stopped_child_never_ends_with_0(tmp_path: Path, mode: str) -> None:
    done = run(tmp_path, WAYS_OUT, "--mode", mode)
    assert done.returncode == 3, done.stderr
    assert done.stdout.splitlines() == [
        "exits 1 1 1 1",
        "exits_in_the_end 1 1 7 7",
        "leaves_in_the_end 1 1 7 7",
        "catches 1 1 7 7",
        "goes_on_as_another 1 1 1 1",
        "has_a_child 1 1 1 1",
        "is_healthy 0 0 7 7",
    ]
    steps = []
    for capture in tmp_path.glob("nanscope-program.*.nsc"):
        steps += [f["origin"]["step"] for f in read_capture(capture) if f["level"] == "error"]
    # Those of the parent go on in a child, and in a child of a child.
    assert sorted(steps) == [3] * 20 + [4] * 4


@pytest.mark.slow
def test_no_way_out_of_a_stopped_child_is_a_success(tmp_path: Path) -> None:
    done = run(tmp_path, WAYS_BY_HAND.read_text())
    assert done.returncode == 3, done.stderr
    ends = [line.split() for line in done.stdout.splitlines()]
    assert len(ends) == 19 and [name for name, *seen in ends if "0" in seen] == []
    # A child that was forked on another thread ends with that thread, and does not wait for ours.
    assert ends[-2:] == [["fork_in_a_thread_returns", "1"], ["fork_in_a_thread_catches", "1"]]


# While one thread is nearly always with the judge, the others fork: also from a backward hook.
# Every op has run before: torch's own first times have locks that a fork copies.
FORKS = """
import os, threading, torch

over = threading.Event()
x = torch.tensor([-1.0, 4.0])
torch.nan_to_num(torch.sqrt(x)).sum()
def busy():
    while not over.is_set():
        torch.nan_to_num(torch.sqrt(x)).sum()
threads = [threading.Thread(target=busy) for _ in range(2)]
for thread in threads:
    thread.start()

def child(n):
    pid = os.fork()
    if pid == 0:
        torch.nan_to_num(torch.sqrt(torch.tensor([-4.0, 9.0]))).sum()
        os._exit(n)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

print([child(n) for n in range(8)] == list(range(8)))
w = torch.tensor([4.0], requires_grad=True)
w.register_hook(lambda g: print("hook", child(7)))
torch.sqrt(w).sum().backward()
over.set()
for thread in threads:
    thread.join()
"""


def test_a_fork_never_waits_for_a_lock_of_another_thread(tmp_path: Path) -> None:
    done = run(tmp_path, FORKS)
    assert (done.returncode, done.stdout) == (0, "True\nhook 7\n"), done.stderr
    assert done.stderr.startswith("nanscope: clean.")
    assert list(tmp_path.glob("*.nsc")) == []


# Each child finds errors on lines of its own, and tells of each before it goes on.
KILLED = """
import os, random, signal, sys, torch

source = "\\n".join(
    f"def f{i}(w):\\n    opt = torch.optim.SGD([w], lr=0.1)\\n"
    f"    torch.sqrt(w).sum().backward()\\n    opt.step()" for i in range(8))
exec(compile(source, "many.py", "exec"))

def find_errors(reporter):
    for i in range(8):
        globals()[f"f{i}"](torch.tensor([-1.0], requires_grad=True))
        os.write(reporter, b".")

random.seed(5)
if sys.argv[1] == "main":
    find_errors(int(sys.argv[2]))
    signal.pause()
for round in range(50):
    reports, reporter = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reports)
        find_errors(reporter)
        signal.pause()
    os.close(reporter)
    wanted = random.randrange(0, 8)
    seen = 0
    while seen < wanted:
        seen += len(os.read(reports, 1))
    for _ in range(random.randrange(0, 20000)):  # somewhere on the way to the next
        pass
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    while rest := os.read(reports, 100):
        seen += len(rest)
    os.close(reports)
    print(pid, seen, flush=True)
"""


@pytest.mark.slow
def test_kill_minus_nine_at_fifty_moments(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(KILLED)
    done = subprocess.run(
        [NANSCOPE, "run", "-q", "--keep-going", "program.py", "children"],
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=900,
    )
    rounds = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
    assert len(rounds) == 50, done.stderr
    for pid, reported in rounds:
        capture = tmp_path / f"nanscope-program.{pid}.nsc"
        if not capture.exists():
            assert reported == 0
            continue
        errors = [f for f in read_capture(capture) if f["level"] == "error"]
        lines = {f["origin"]["site"]["line"] for f in errors}
        assert len(lines) in (reported, reported + 1), (
            "an error that was reported is not in the capture"
        )
    assert sum(reported for _, reported in rounds) > 75
