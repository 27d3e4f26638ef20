"""A fork waits for every lock of the adapter, so that none is held for ever in the child."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

FORK_UNDER_EACH_LOCK = """
import os
import torch
import nanscope
import nanscope._torch as adapter

def child_can_take(name):
    pid = os.fork()
    if pid == 0:
        os._exit(0 if adapter.can_take_lock(name) else 1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0

with nanscope.watch():
    torch.ones(2).sqrt()
    for name in adapter.names_of_locks():
        print(name, adapter.call_while_held(name, lambda: child_can_take(name)), sep=": ")
"""


def test_no_lock_is_left_held_in_the_child() -> None:
    run = subprocess.run(
        [sys.executable, "-c", FORK_UNDER_EACH_LOCK],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert run.returncode == 0, run.stderr
    answers = dict(line.split(": ") for line in run.stdout.splitlines())
    assert {"session", "world", "proofs"} <= answers.keys()
    assert set(answers.values()) == {"True"}, answers


HITS = """
import sys
import torch
imported = set(sys.modules)
x = torch.tensor([-1.0, 0.0, 4.0], requires_grad=True)
y = torch.nan_to_num(torch.sqrt(x)).sum() + torch.where(x > 0, torch.log(x), x).sum()
y.backward()
print(torch.log(x).sum().item(), float("inf") * x.sum())
import numpy
numpy.log(numpy.zeros(2))
late = {name for name in set(sys.modules) - imported if name.startswith(("nanscope", "sysconfig"))}
print("late:", sorted(late))
"""


def test_nothing_is_imported_at_a_hit(tmp_path: Path) -> None:
    """A fork while another thread imports leaves the child a lock that nobody gives back."""
    (tmp_path / "program.py").write_text(HITS)
    command = [Path(sys.executable).parent / "nanscope", "run", "--keep-going", "program.py"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert "late: []" in run.stdout, run.stdout + run.stderr


def test_every_lock_is_in_the_list() -> None:
    """A mutex that is no `Lock` would be unknown to the fork."""
    mutex = re.compile(r"std::(\w+_)?mutex\s+\w+|std::shared_mutex|pthread_mutex_t")
    allowed = {"adapters/torch/watch/locks.h"}
    found = {
        file.relative_to(ROOT).as_posix()
        for file in (ROOT / "adapters/torch").rglob("*")
        if file.suffix in {".h", ".cc"}
        and not file.name.endswith("_test.cc")
        and mutex.search(file.read_text())
    }
    assert found == allowed
