"""Values that no operation of torch in this process made: where they were made, or came in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from watched import ENVIRONMENT, NANSCOPE, read_report

TRAINING = """
def fit(loader, width):
    model = torch.nn.Linear(width, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for batch in loader:
        x = batch[0] if isinstance(batch, (tuple, list)) else batch
        loss = model(x.float()).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
HEAD = "import numpy as np, torch\nfrom torch.utils.data import *\n" + TRAINING

PARENT_BEFORE_WORKERS = """
if __name__ == "__main__":
    x = torch.tensor([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0], [4.0, 5.0]])
    x = (x - x.mean(0)) / x.std(0)  # BORN
    fit(DataLoader(TensorDataset(x), 2, num_workers=1), 2)
"""
WORKER_OF_TORCH = """
class Rows(Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, i):
        return torch.log(torch.tensor([float(i), 1.0]))  # BORN

if __name__ == "__main__":
    fit(DataLoader(Rows(), 4, num_workers=1, multiprocessing_context="spawn"), 2)
"""
WORKER_OF_NUMPY = """
class Rows(IterableDataset):
    def __iter__(self):
        np.seterr(all="ignore")
        for i in range(8):
            row = np.array([i, 1.0])
            yield np.log(row)  # BORN

if __name__ == "__main__":
    fit(DataLoader(Rows(), 4, num_workers=1), 2)
"""
NUMBER_OF_NUMPY = """
finished = []
baseline = float(np.mean(finished))  # BORN
w = torch.ones(2, requires_grad=True)
loss = (w - baseline).sum()
loss.backward()
torch.optim.SGD([w], 0.1).step()
"""
CONSTANT_COLUMN = """
x = np.array([[1.0, 5.0], [2.0, 5.0]])
x = (x - x.mean(0)) / x.std(0)  # BORN
fit([torch.tensor(x)], 2)
"""


def run(folder: Path, text: str) -> tuple[dict, subprocess.CompletedProcess]:
    (folder / "program.py").write_text(HEAD + text)
    done = subprocess.run(
        [NANSCOPE, "run", "--json", "finding.json", "program.py"],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=600,
    )
    return read_report((folder / "finding.json").read_text()), done


@pytest.mark.parametrize(
    ("text", "op", "cause", "worker"),
    [
        pytest.param(PARENT_BEFORE_WORKERS, "aten::div", "division_by_zero", None, id="parent"),
        pytest.param(WORKER_OF_TORCH, "aten::log", "log_of_zero", 0, id="worker"),
        pytest.param(WORKER_OF_NUMPY, "numpy::log", "log_of_zero", 0, id="numpy_in_worker"),
        pytest.param(NUMBER_OF_NUMPY, "numpy::mean", "empty_reduction", None, id="number"),
        pytest.param(CONSTANT_COLUMN, "numpy::divide", "division_by_zero", None, id="array"),
    ],
)
def test_it_is_told_once_where_it_was_born(
    tmp_path: Path, text: str, op: str, cause: str, worker: int | None
) -> None:
    report, done = run(tmp_path, text)
    [error] = [finding for finding in report["findings"] if finding["level"] == "error"]
    lines = (tmp_path / "program.py").read_text().splitlines()
    [line] = [number for number, code in enumerate(lines, 1) if "# BORN" in code]
    origin = error["origin"]
    assert (origin["kind"], origin["op"], origin["site"]["line"]) == ("birth", op, line)
    assert (error["cause"]["id"], origin["worker"]) == (cause, worker)
    if op.startswith("numpy::"):  # nobody saw it on its way
        assert error["cause"]["certainty"] == "likely"
    assert done.stderr.count("First Bad Operation") == 1, done.stderr
    assert done.returncode == 3


FILE = """
table = np.genfromtxt("table.csv", delimiter=",")  # READ
data = Subset(TensorDataset(torch.from_numpy(table)), list(range(19, -1, -1)))
fit(DataLoader(data, 4, shuffle=True), 2)
"""


def test_data_are_accused_with_reader_sample_and_column(tmp_path: Path) -> None:
    rows = [f"{i}.0,{'' if i == 13 else 2.0}" for i in range(20)]
    (tmp_path / "table.csv").write_text("\n".join(rows) + "\n")
    report, _ = run(tmp_path, FILE)
    [error] = [finding for finding in report["findings"] if finding["level"] == "error"]
    assert error["origin"]["kind"] == "imported"
    assert (error["cause"]["id"], error["cause"]["certainty"]) == ("bad_input_data", "certain")
    said = "\n".join(error["cause"]["evidence"])
    assert "sample 6 of the dataset (Subset), which is sample 13 of the dataset (Ten" in said
    assert "column 1 of 2" in said
    assert "`numpy.genfromtxt` at program.py:14 read 1 nan, the first in row 13, column 1" in said


NUMBER_OF_PYTHON = """
gap = 1e308 * 10 - 1e308 * 10
w = torch.ones(2, requires_grad=True)
(w * gap).sum().backward()
torch.optim.SGD([w], 0.1).step()
"""


def test_a_number_that_python_computed_is_not_called_a_constant(tmp_path: Path) -> None:
    report, _ = run(tmp_path, NUMBER_OF_PYTHON)
    [error] = [finding for finding in report["findings"] if finding["level"] == "error"]
    assert error["cause"]["certainty"] == "likely"
    assert "was given the number nan by Python" in error["cause"]["sentence"]


# Everything that a program can see of NumPy's error state.
STATE = """
import numpy as np, sys, threading, traceback, warnings

class Log:
    def write(self, message):
        print("log", repr(message), sys._getframe(1).f_lineno)

def bad():
    return np.log(np.zeros(2)), np.array([0.0]) / np.array([0.0]), np.exp(np.array([1e9]))

print(np.geterr(), np.geterrcall(), np.getbufsize())
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    bad()
    np.float64(0) / np.float64(0)
    np.mean([])
    print([(str(w.message), w.category, w.lineno) for w in seen])
old = np.seterr(all="ignore")
bad()
print(old, np.geterr())
np.seterr(**old)
for options in ({"divide": "raise"}, {"all": "raise"}, {"all": "nonsense"}):
    try:
        with np.errstate(**options):
            bad()
    except (FloatingPointError, ValueError):
        traceback.print_exc(file=sys.stdout)
with np.errstate(all="log", call=Log()):
    print(np.geterr(), type(np.geterrcall()))
    bad()
with np.errstate(all="call", call=lambda *told: print("call", told)):
    bad()
with np.errstate(all="print"):
    bad()
np.setbufsize(4096)
print(np.geterr(), np.geterrcall(), np.getbufsize())

def in_a_thread():
    np.seterr(invalid="ignore")
    print(np.geterr())

thread = threading.Thread(target=in_a_thread)
thread.start()
thread.join()
print(np.geterr())
warnings.simplefilter("error")
try:
    bad()
except RuntimeWarning:
    traceback.print_exc(file=sys.stdout)
import torch
"""


def test_numpy_reports_errors_as_under_python(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(STATE)
    plain, watched = (
        subprocess.run(
            [*command, "program.py"], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True
        )
        for command in ([sys.executable], [NANSCOPE, "run", "-q"])
    )
    assert plain.stdout == watched.stdout
    assert plain.stderr == watched.stderr
    assert "log" in plain.stdout and "call" in plain.stdout
