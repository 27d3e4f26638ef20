"""`--mode sentinel` and `watch(mode="sentinel")`: the same origin, no trace of the replay."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_cases import expectations

from nanscope import _core
from watched import ENVIRONMENT, NANSCOPE, ROOT, run_plain, watch

# Of each way to take a step, and to end without one, one program; `make test-release` runs all.
CASES = [
    "adam_without_eps_untouched_embedding",  # the parameters go bad, no gradient does
    "classic_multinomial",  # an exception, and no step
    "fp16_grad_scaler_on_cpu",
    "gan",  # two optimizers
    "gradient_accumulation",
    "guard_exits_on_bad_loss",
    "handwritten_lars_zero_gradient",
    "lbfgs_closure_with_a_bad_loss",
    "log_mel_of_silence",
    "resnet_batchnorm",
]

TRAINING = """
import sys
import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
for step in range({steps}):
    y = model(torch.randn(16, 8))
    if step == {bad}:
        y = y * 0
    loss = torch.sqrt((y**2).sum())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    {each_step}
print("weights", model[0].weight.double().sum().item().hex())
"""
LINE = 12


def training(steps: int = 12, bad: int = -1, each_step: str = "pass") -> str:
    return TRAINING.format(steps=steps, bad=bad, each_step=each_step)


def sentinel(program: Path | str, folder: Path, *options: str):
    return watch(program, folder, "--mode", "sentinel", *options)


def processes_of(folder: Path) -> list[str]:
    """Everything that runs a program of this folder."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if (
            entry.name.isdigit()
            and int(entry.name) != os.getpid()
            and str(folder).encode() in words
        ):
            found.append(entry.name)
    return found


def assert_nobody_is_left(folder: Path) -> None:
    """The system ends a snapshot when its parent is gone, a moment later."""
    end = time.monotonic() + 600
    while processes_of(folder) and time.monotonic() < end:
        time.sleep(0.05)
    assert processes_of(folder) == []


# A sentinel cannot see these, and why.
UNSEEN = {
    "ema_evaluated_weights_ratio": "bad after the last step, in no optimizer, gone before the end",
    "skip_bad_batches_never_recovers": "only torch.isfinite ever reads it, and nothing is left",
}
OTHERS = sorted({path.stem for path in (ROOT / "tests" / "cases").glob("*.py")} - {*CASES})


@pytest.mark.parametrize(
    "name",
    [
        *(pytest.param(name, marks=pytest.mark.slow) for name in CASES),
        *(pytest.param(name, marks=pytest.mark.release) for name in OTHERS),
    ],
)
def test_the_origin_is_that_of_the_exact_watch(name: str, tmp_path: Path) -> None:
    program = ROOT / "tests" / "cases" / f"{name}.py"
    wanted = expectations(program)
    seen = sentinel(program, tmp_path)
    if name in UNSEEN:
        assert seen.first("error") is None
        return
    if wanted["expect"] == ["silence"]:  # this torch has mended it
        assert seen.first("error") is None
        return
    if wanted["expect"] == ["error or warning"] and seen.first("error") is None:
        return  # a warning, which a sentinel does not look for
    origin = seen.error["origin"]
    assert seen.status == 3
    assert origin["op"] in wanted["op"]
    assert origin["phase"] in wanted["phase"]
    assert str(origin["site"]["line"]) in wanted["line"], origin["site"]
    assert seen.error["cause"]["id"] in wanted["cause"]
    assert seen.report["program"]["mode"] == "sentinel"
    assert "bit-equal" in seen.err or "no loss to compare" in seen.err


INNOCENT = sorted((ROOT / "tests" / "innocent").glob("*.py"))


@pytest.mark.release
@pytest.mark.parametrize("program", INNOCENT, ids=lambda path: path.stem)
def test_innocent_programs_are_left_alone(program: Path, tmp_path: Path) -> None:
    seen = sentinel(program, tmp_path)
    plain = run_plain(program, tmp_path)
    assert seen.first("error") is None, seen.err
    assert (seen.status, seen.out) == (plain.returncode, plain.stdout)


def test_a_late_fault_is_found_from_a_snapshot(tmp_path: Path) -> None:
    seen = sentinel(training(steps=400, bad=300), tmp_path, "--snapshot-every", "0.01")
    origin = seen.error["origin"]
    assert (origin["step"], origin["op"], origin["node"]) == (300, "aten::div", "SqrtBackward0")
    assert origin["site"]["line"] == LINE
    gaps = [gap["what"] for gap in seen.report["coverage"]["not_watched"]]
    assert len(gaps) == 1 and gaps[0].startswith("what came before step ")
    assert "bit-equal to the run" in seen.err
    assert len(list(tmp_path.glob("*.nsc"))) == 1
    assert_nobody_is_left(tmp_path)


def test_two_threads_are_replayed_with_two(tmp_path: Path) -> None:
    program = training(steps=60, bad=50).replace("import torch", "import torch; X = 700", 1)
    program = program.replace(
        "y = model(torch.randn(16, 8))", "y = model(torch.randn(16, 8)) + big()"
    )
    program = program.replace(
        "torch.manual_seed(0)",
        "torch.manual_seed(0); torch.set_num_threads(2)\n"
        "def big(): return 0 * (torch.randn(X, X) @ torch.randn(X, X)).exp().clamp(max=1).mean()",
    )
    seen = sentinel(program, tmp_path, "--snapshot-every", "0.01")
    assert seen.error["origin"]["step"] == 50
    assert "NOT bit-equal" not in seen.err and "bit-equal to the run" in seen.err


def test_a_clean_run_is_bit_equal_and_leaves_nothing(tmp_path: Path) -> None:
    seen = sentinel(training(), tmp_path, "--snapshot-every", "0.001")
    plain = run_plain(tmp_path / "program.py", tmp_path)
    assert (seen.status, seen.out) == (0, plain.stdout)
    assert seen.report["verdict"] == "clean"
    assert seen.report["coverage"]["steps"] == 12
    assert "clean at every look" in seen.err
    assert list(tmp_path.glob("*.nsc")) == []
    assert_nobody_is_left(tmp_path)


def test_the_replay_writes_nowhere(tmp_path: Path) -> None:
    each_step = """
    print("step", step, flush=True)
    log.write(f"{step}\\n")
    torch.save(model.state_dict(), "latest.pt")
    with open(f"at_{step}", "w") as file:
        file.write(rows.readline())
"""
    program = training(steps=12, bad=9, each_step=each_step.strip())
    program = program.replace(
        "import sys\n", 'import sys\nlog = open("log", "a")\nrows = open("rows")\n'
    )
    (tmp_path / "rows").write_text("".join(f"row {i}\n" for i in range(20)))
    seen = sentinel(program, tmp_path, "--keep-going", "--snapshot-every", "0.001")
    assert seen.error["origin"]["step"] == 9
    assert seen.out.splitlines()[:12] == [f"step {i}" for i in range(12)]
    assert (tmp_path / "log").read_text().split() == [str(i) for i in range(12)]
    rows = [(tmp_path / f"at_{i}").read_text() for i in range(12)]
    assert rows == [f"row {i}\n" for i in range(12)]
    assert "could not keep the replay's files apart" not in seen.err


def test_the_capture_of_a_program_that_ran_on_says_how_it_ended(tmp_path: Path) -> None:
    program = training(steps=12, bad=9)
    seen = sentinel(program, tmp_path, "--keep-going", "-o", "run.nsc", "--snapshot-every", "0.001")
    assert seen.report["program"]["ended"] == "normally"
    assert _core.Capture.read(str(tmp_path / "run.nsc")).ended == "normally"


# The system refuses this process and its children a namespace, as containers do.
NO_NAMESPACES = """
import ctypes, struct
UNSHARE, EPERM, NO_NEW_PRIVILEGES, SECCOMP, FILTER = 272, 1, 38, 22, 2
rules = [(0x20, 0, 0, 0), (0x15, 0, 1, UNSHARE), (6, 0, 0, 0x50000 | EPERM), (6, 0, 0, 0x7FFF0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
filter = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 4, ctypes.addressof(code)))
prctl = ctypes.CDLL(None, use_errno=True).prctl
prctl.argtypes = [ctypes.c_int] + 4 * [ctypes.c_ulong]
assert prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0
assert prctl(SECCOMP, FILTER, ctypes.addressof(filter), 0, 0) == 0, ctypes.get_errno()
"""


def test_without_namespaces_it_says_what_the_replay_wrote(tmp_path: Path) -> None:
    """Files that were open are private all the same; one that is opened again is really written."""
    each_step = 'log.write(f"{step}\\n"); print(step, file=open("opened", "a"))'
    program = training(steps=12, bad=5, each_step=each_step)
    program = program.replace("import sys\n", NO_NAMESPACES + 'log = open("log", "w")\n')
    seen = sentinel(program, tmp_path)
    assert seen.error["origin"]["op"] == "aten::div"
    assert "the system could not keep the replay's files apart: what the program opened" in seen.err
    assert "bit-equal to the run" in seen.err
    # The run goes on to the next use of what is spoilt.
    assert (tmp_path / "log").read_text().split() == [*"012345"]
    assert (tmp_path / "opened").read_text().split() == [*"01234012345"]
    assert_nobody_is_left(tmp_path)


def test_a_replay_that_cannot_go_on_is_no_answer(tmp_path: Path) -> None:
    """The disk is as it is by now: what is made only once is there already."""
    program = training(bad=9, each_step='open(f"at_{step}", "x").close()')
    seen = sentinel(program, tmp_path)
    assert "the replay did not get there: FileExistsError" in seen.err
    assert "From step 9 on every operation is watched" in seen.err
    assert seen.error["origin"]["kind"] in ("imported", "unwatched")


def test_a_replay_tells_its_finding_without_the_disk(tmp_path: Path) -> None:
    """Packages may be installed anew while the program runs: nothing of ours is loaded late."""
    each_step = 'if step == 4 and "NANSCOPE_REPLAY" in os.environ: sys.meta_path.clear()'
    program = training(bad=5, each_step=each_step).replace("import sys\n", "import os, sys\n")
    seen = sentinel(program, tmp_path)
    assert seen.error["origin"]["site"]["line"] == LINE
    assert seen.error["origin"]["site"]["code"] == "torch.sqrt((y**2).sum())"
    assert seen.error["cause"]["id"] == "sqrt_gradient_at_zero"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_snapshots_die_with_the_run(how: signal.Signals, tmp_path: Path) -> None:
    each_step = f"if step == 6: import os; os.kill(os.getpid(), {int(how)})"
    (tmp_path / "program.py").write_text(training(each_step=each_step))
    command = [NANSCOPE, "run", "--mode", "sentinel", "--snapshot-every", "0.001"]
    done = subprocess.run(
        [*command, tmp_path / "program.py"], cwd=tmp_path, env=ENVIRONMENT, capture_output=True
    )
    assert done.returncode == -how
    assert_nobody_is_left(tmp_path)


def test_workers_of_a_loader_work_again_in_the_replay(tmp_path: Path) -> None:
    program = """
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
data = torch.rand(32, 4) + 0.5
data[21] = 0
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), 0.01)
loader = DataLoader(TensorDataset(data), batch_size=4, num_workers=2, shuffle=True)
for epoch in range(2):
    for (x,) in loader:
        loss = model(x).mean() + (x.norm(dim=1) + x.sum(1).log()).mean() * epoch
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
    seen = sentinel(program, tmp_path, "--snapshot-every", "0.001")
    origin = seen.error["origin"]
    assert (origin["op"], origin["site"]["line"]) == ("aten::log", 13)
    assert "bit-equal to the run" in seen.err
    assert_nobody_is_left(tmp_path)


def test_without_a_snapshot_it_says_so_and_watches_from_there(tmp_path: Path) -> None:
    thread = (
        "import sys, threading\n"
        "threading.Thread(target=threading.Event().wait, daemon=True, name='tracker').start()\n"
    )
    seen = sentinel(training(bad=5).replace("import sys\n", thread), tmp_path)
    assert "no snapshot can be taken: other threads are at work: tracker" in seen.err
    assert "From step 5 on every operation is watched" in seen.err
    assert seen.error["origin"]["kind"] in ("imported", "unwatched")
    gaps = [gap["what"] for gap in seen.report["coverage"]["not_watched"]]
    assert "what came before step 5" in gaps


def test_a_tracker_is_known_by_its_thread(tmp_path: Path) -> None:
    """As soon as the first step is taken; the snapshot from before it is good enough."""
    tracker = (
        "torch.manual_seed(0)\n"
        "import logging.handlers, queue\n"
        "tracker = logging.handlers.QueueListener(queue.Queue()); tracker.start()\n"
    )
    seen = sentinel(training(bad=5).replace("torch.manual_seed(0)\n", tracker), tmp_path)
    assert "no newer snapshot can be taken: other threads are at work: Thread-1" in seen.err
    assert "of logging. If a step goes bad, the steps since step 0 are run again." in seen.err
    assert seen.error["origin"]["op"] == "aten::div"


def test_a_tracker_is_known_by_what_it_sends(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        place = "{}:{}".format(*server.getsockname())
        begin = (
            "torch.manual_seed(0)\n"
            "import socket\n"
            f"idle = socket.create_connection({server.getsockname()})\n"
            f"tracker = socket.create_connection({server.getsockname()})\n"
        )
        program = training(each_step='tracker.sendall(b"loss")')
        program = program.replace("torch.manual_seed(0)\n", begin)
        seen = sentinel(program, tmp_path, "--snapshot-every", "0.001")
    assert f"no newer snapshot can be taken: the program talks to {place}. If a" in seen.err
    assert seen.status == 0


def test_a_connection_at_rest_is_no_obstacle(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        begin = (
            "torch.manual_seed(0)\n"
            "import socket\n"
            f"idle = socket.create_connection({server.getsockname()})\n"
        )
        program = training(steps=4).replace("torch.manual_seed(0)\n", begin)
        seen = sentinel(program, tmp_path, "--snapshot-every", "0.001")
    assert "snapshot can be taken" not in seen.err


TWO_OPTIMIZERS = """
import torch

torch.manual_seed(0)
weights = [torch.ones(4, requires_grad=True) for _ in range(2)]
optimizers = [torch.optim.Adam([weight], 1e-3) for weight in weights]
for step in range({steps}):
    for number, (weight, optimizer) in enumerate(zip(weights, optimizers)):
        scale = 1e30 if number == 1 and step == 12 else 1.0
        optimizer.zero_grad()
        (weight.sum() * scale).backward()
        optimizer.step()
"""


@pytest.mark.parametrize("steps", [14, 24])
def test_a_state_that_shows_in_no_loss_is_found(steps: int, tmp_path: Path) -> None:
    """At one of the looks behind a step of this very optimizer, or else at the end."""
    error = sentinel(TWO_OPTIMIZERS.format(steps=steps), tmp_path).error
    assert error["harm"]["kind"] == "optimizer_state"
    assert (error["origin"]["op"], error["origin"]["step"]) == ("aten::addcmul_", 25)


def test_a_replay_that_is_not_the_same_says_so(tmp_path: Path) -> None:
    noise = "y = model(torch.randn(16, 8)) + int.from_bytes(os.urandom(2)) * 1e-6"
    program = training(bad=8).replace("import sys\n", "import sys, os\n")
    program = program.replace("y = model(torch.randn(16, 8))", noise)
    seen = sentinel(program, tmp_path)
    assert seen.error["origin"]["step"] == 8
    assert "NOT bit-equal to the run" in seen.err
    gaps = {gap["what"]: gap["why"] for gap in seen.report["coverage"]["not_watched"]}
    assert "NOT bit-equal" in gaps["the run itself"]


BLOCK = """
import torch
import nanscope

torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)


def train():
    for step in range(6):
        y = model(torch.randn(3, 4)) * (step != 4)
        loss = torch.sqrt(y.square().sum())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


try:
    with nanscope.watch(mode="sentinel"):
        train()
except nanscope.NonFiniteError as error:
    origin = error.finding.origin
    good = torch.isfinite(model.weight).all().item()
    print("raised", origin.step, origin.op, origin.site.line, good)
with nanscope.watch(mode="sentinel", on_find="report") as block:
    train()
print("reported", block.verdict, block.finding.origin.step, block.finding.origin.site.line)
with nanscope.watch(mode="sentinel") as block:
    torch.nn.init.ones_(model.weight)
    torch.nn.init.ones_(model.bias)
    optimizer.zero_grad()
    model(torch.ones(3, 4)).sum().backward()
    optimizer.step()
print("clean", block.verdict)
"""


def test_a_watched_block(tmp_path: Path) -> None:
    (tmp_path / "block.py").write_text(BLOCK)
    done = subprocess.run(
        [sys.executable, "block.py"], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True
    )
    assert done.stdout.splitlines() == [
        "raised 4 aten::div 13 True",
        "reported error 4 13",
        "clean clean",
    ], done.stderr
    assert_nobody_is_left(tmp_path)
