"""`run --bad-batch DIR`, `replay DIR`, and three lines of Python by hand."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from watched import ENVIRONMENT, NANSCOPE, ROOT

EXAMPLE = ROOT / "examples/integrations/bad_sample.py"
BY_HAND = """
import sys, torch
from torch import nn
model = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(5), nn.ReLU(), nn.Dropout(0.1))
head = nn.Linear(16, 4)
optimizer = torch.optim.AdamW([*model.parameters(), *head.parameters()], lr=1e-3)

kept = torch.load(sys.argv[1] + "/step.pt", weights_only=True)
model.load_state_dict(kept["models"][0]), head.load_state_dict(kept["models"][1])
rows, mask, target = kept["batch"]

optimizer.load_state_dict(kept["optimizers"][0])
mean = (model(rows) * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)
print(torch.isnan(mean).any(1).nonzero().flatten().tolist())
"""


def nanscope(folder: Path, *words: str) -> subprocess.CompletedProcess:
    line = [NANSCOPE, *words]
    return subprocess.run(line, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True)


def keep(folder: Path, script: str, *arguments: str) -> dict:
    (folder / "train.py").write_text(script)
    done = nanscope(folder, "run", "--bad-batch", "bad", "-q", "train.py", *arguments)
    assert done.returncode == 3, done.stderr
    return json.loads((folder / "bad/about.json").read_text())


def replay(folder: Path, *words: str) -> tuple[int, str, dict]:
    line = ("replay", "--yes", "-q", "--json", "again.json", "bad", *words)
    done = nanscope(folder, *line)
    path = folder / "again.json"
    return done.returncode, done.stderr, json.loads(path.read_text()) if path.exists() else {}


def test_the_example_meets_its_step_again_bit_for_bit(tmp_path: Path) -> None:
    about = keep(tmp_path, EXAMPLE.read_text())
    assert about["op"] == "aten::div" and about["cause"] == "division_by_zero"
    (row,) = about["rows"]
    assert about["samples"] == ["it is sample 61 of the dataset (TensorDataset)"]
    assert about["step"] > 0 and about["batch_seen_in_use"]

    status, said, again = replay(tmp_path)
    assert status == 3, said
    assert said.endswith("nanscope replay: the same finding as in bad.\n")
    (first,) = json.loads((tmp_path / "bad/finding.json").read_text())["findings"][:1]
    second = again["findings"][0]
    # Weights, running statistics, dropout: all of them are in these numbers.
    assert first["inputs"] == second["inputs"]
    assert first["origin"]["index"] == second["origin"]["index"]
    assert second["origin"]["step"] == 0

    hand = [sys.executable, "-c", BY_HAND, tmp_path / "bad"]
    done = subprocess.run(hand, capture_output=True, text=True)
    assert done.stdout == f"[{row}]\n", done.stderr


# A loader that is ahead by one batch, as accelerate's.
AHEAD = """
import sys
import torch
from torch.utils.data import DataLoader, TensorDataset

class Ahead(DataLoader):
    def __iter__(self):
        now = None
        for batch in super().__iter__():
            if now is not None:
                yield now
            now = batch
        yield now

x = torch.ones(12, 3)
x[int(sys.argv[1])] = 0
w = torch.ones(3, requires_grad=True)
optimizer = torch.optim.SGD([w], 0.01)
for (row,) in Ahead(TensorDataset(x, ), batch_size=1):
    torch.rand(1)
    optimizer.zero_grad()
    (row * w).norm().backward() if row.any() else (torch.log(row) * w).sum().backward()
    optimizer.step()
"""
NO_LOADER = """
import torch
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for step in range(4):
    optimizer.zero_grad()
    (torch.log(torch.rand(4, 3) * (step != 2)) + model(torch.rand(4, 3))).sum().backward()
    optimizer.step()
"""


# The learning rate and the scale of the failing step come from what the steps before left behind.
SCHEDULED = """
import torch
from torch.optim.lr_scheduler import LinearLR, MultiStepLR, OneCycleLR, ReduceLROnPlateau
from torch.optim.lr_scheduler import SequentialLR
from torch.utils.data import DataLoader

torch.manual_seed(0)
data = torch.rand(40, 3) + 0.5
data[29] = 0
model, other = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.01)
second = torch.optim.SGD(other.parameters(), 0.02)
warm, steps = LinearLR(optimizer, 0.1, total_iters=4), MultiStepLR(optimizer, [1, 2])
both = SequentialLR(optimizer, [warm, steps], milestones=[4])
cycle = OneCycleLR(second, 0.5, total_steps=20)
plateau = ReduceLROnPlateau(torch.optim.SGD([torch.ones(1)], 1.0), patience=1)
scaler = torch.amp.GradScaler("cpu", init_scale=256.0, growth_interval=3)
for batch in DataLoader(data, batch_size=4):
    both.step(), cycle.step(), plateau.step(1.0)
    print(both.get_last_lr(), cycle.get_last_lr(), plateau.get_last_lr(), scaler.get_scale())
    optimizer.zero_grad(), second.zero_grad()
    loss = (torch.log(batch) * (model(batch) + other(batch))).mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer), scaler.step(second)
    scaler.update()
"""


def test_schedules_and_scales_go_on_where_they_were(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCHEDULED)
    first = nanscope(tmp_path, "run", "--bad-batch", "bad", "-q", "train.py")
    assert first.returncode == 3, first.stderr
    again = nanscope(tmp_path, "replay", "--yes", "-q", "bad")
    assert again.returncode == 3, again.stderr
    (of_the_failing_step,) = again.stdout.splitlines()[:1]
    steps = first.stdout.splitlines()
    assert of_the_failing_step == steps[-1] and len(set(steps)) == len(steps) == 8


@pytest.mark.release
def test_a_loader_that_is_ahead_gives_the_batch_that_was_used(tmp_path: Path) -> None:
    about = keep(tmp_path, AHEAD, "5")
    assert about["batch"] == 5
    assert about["samples"] == ["it is sample 5 of the dataset (TensorDataset)"]
    assert replay(tmp_path)[0] == 3
    # With data in which nothing is bad, the kept batch still is.
    status, said, _ = replay(tmp_path, "train.py", "11")
    assert status == 3, said


# Workers fetch ahead; what they fetched of an epoch that was left early is thrown away.
WORKERS = """
import sys
import torch
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __len__(self):
        return 40

    def __getitem__(self, index):
        return torch.full((3,), float(index != 27)), torch.tensor(float(index))

torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), 1e-4)
workers = int(sys.argv[1])
loader = DataLoader(Rows(), 4, shuffle=True, num_workers=workers, persistent_workers=workers > 0)
for epoch in range(2):
    for number, (x, y) in enumerate(loader):
        if epoch == 0 and (number == 1 or 27 in y):
            break
        optimizer.zero_grad()
        (model(torch.log(x)).squeeze(1) - y).square().mean().backward()
        optimizer.step()
"""


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["0", "2"])
def test_the_sample_to_blame_is_known_whoever_fetched_it(tmp_path: Path, workers: str) -> None:
    about = keep(tmp_path, WORKERS, workers)
    assert about["samples"] == ["it is sample 27 of the dataset (Rows)"]


@pytest.mark.release
def test_what_does_not_come_again_is_said(tmp_path: Path) -> None:
    done = nanscope(tmp_path, "run", "--bad-batch", "bad", "-c", NO_LOADER)
    assert done.returncode == 3
    assert "no batch came from a torch DataLoader" in done.stderr
    status, said, _ = replay(tmp_path)
    assert status == 4
    assert "nanscope replay: not met again: <string>:7" in said


@pytest.mark.release
def test_another_program_is_told_from_the_kept_one(tmp_path: Path) -> None:
    keep(tmp_path, EXAMPLE.read_text())
    other = EXAMPLE.read_text().replace("nn.Linear(16, 4)", "nn.Linear(16, 4, bias=False)")
    (tmp_path / "other.py").write_text(other)
    status, said, _ = replay(tmp_path, "other.py")
    assert status == 4
    assert "the kept step was not met: its Linear has other parameters." in said


NOT_COPIED = """
import torch
from torch.utils.data import DataLoader

class Odd(torch.nn.Linear):
    def state_dict(self, *_, **__):
        raise KeyError("no state")

model = Odd(3, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for row in DataLoader(torch.rand(6, 3), batch_size=2):
    optimizer.zero_grad()
    (torch.log(row * 0) + model(row)).sum().backward()
    optimizer.step()
"""
# All batches are held; the fault is in one that was handed out long before the last.
LISTED = """
import torch
from torch.utils.data import DataLoader

model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
data = torch.rand(24, 3)
data[6] = 0
batches = list(DataLoader(data, batch_size=2))
for batch in batches:
    optimizer.zero_grad()
    (torch.log(batch) + model(batch)).sum().backward()
    optimizer.step()
"""


@pytest.mark.release
def test_a_fault_of_ours_changes_nothing_but_what_is_kept(tmp_path: Path) -> None:
    done = nanscope(tmp_path, "run", "--bad-batch", "bad", "-c", NOT_COPIED)
    assert done.returncode == 3
    assert "aten::log made -inf" in done.stderr
    assert "--bad-batch kept nothing, a fault of its own: KeyError: 'no state'" in done.stderr
    assert not (tmp_path / "bad").exists()


@pytest.mark.release
def test_a_batch_that_nobody_saw_in_use_is_not_blamed(tmp_path: Path) -> None:
    about = keep(tmp_path, LISTED)
    assert about["batch_seen_in_use"] is False
    assert about["rows"] == [] and about["samples"] == []


def test_bad_folders_get_a_sentence(tmp_path: Path) -> None:
    empty = tmp_path / "bad"
    empty.mkdir()
    (tmp_path / "train.py").write_text("pass\n")
    kept = {"schema": "nanscope-bad-batch/1", "argv": ["train.py"], "op": "", "cause": ""}

    def refused(words: tuple[str, ...], sentence: str) -> None:
        done = nanscope(tmp_path, *words)
        assert done.returncode == 2, done.stderr
        assert sentence in done.stderr
        assert "Traceback" not in done.stderr

    refused(("replay", "missing"), "missing does not exist.")
    refused(("replay",), "replay needs the folder that was kept.")
    refused(("replay", "bad"), "bad holds nothing that `nanscope run --bad-batch` kept.")
    (empty / "about.json").write_text(json.dumps(kept))
    refused(("replay", "--yes", "bad"), "about.json is damaged.")
    (empty / "about.json").write_text(json.dumps({**kept, "site": {}, "headline": ""}))
    refused(("replay", "bad"), "it is not run: give the script yourself, behind bad, or --yes")
    refused(("replay", "--yes", "bad"), "step.pt")
    (empty / "step.pt").write_bytes(b"no archive")
    refused(("replay", "--yes", "bad"), "step.pt")
    refused(("run", "--bad-batch", "bad", "train.py"), "bad exists; use -f")
    refused(("run", "--mode", "sentinel", "--bad-batch", "b", "train.py"), "needs --mode exact")
