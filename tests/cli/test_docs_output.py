"""What the pages show behind `$ nanscope ...` is what it prints: commands are executed on the
programs and captures that the page names. `...` stands for what was left out; without it, the text
is the whole output. Numbers (process ids, times, sizes, versions) may differ.

Pages of test_examples.py, test_scan.py and test_readme.py are compared there.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from watched import ENVIRONMENT, NANSCOPE, ROOT

DOCS = ROOT / "docs"
ELSEWHERE = {"examples.md", "scan.md"}
BLOCK = re.compile(r"```text\n\$ nanscope ([^\n]+)\n(.*?)```", re.DOTALL)
SHOWN = {
    f"{page.name}: {command}": (command, text)
    for page in sorted(DOCS.rglob("*.md"))
    if page.name not in ELSEWHERE
    for command, text in BLOCK.findall(page.read_text())
}
SLOW = ("fix.md: fix examples/vae.py",)
HEALTHY = """
import torch
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for _ in range(3):
    model(torch.ones(4, 2)).square().mean().backward()
    optimizer.step()
"""


def nanscope(folder: Path, *words: str) -> str:
    """All that it prints, in its order."""
    done = subprocess.run(
        [NANSCOPE, *words],
        cwd=folder,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.stdout


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the pages name."""
    folder = tmp_path_factory.mktemp("docs")
    shutil.copytree(ROOT / "examples", folder / "examples")
    (folder / "train.py").write_text(HEALTHY)
    nanscope(folder, "run", "-o", "nanscope-vae.2093.nsc", "examples/vae.py")
    return folder


def without_numbers(text: str) -> str:
    text = re.sub(r"-?\d[\d,.]*(e[+-]\d+)?( ([kMGT]i?)?B\b)?", "#", text)
    return " ".join(re.sub(r"^\n*-{3,}", "", text).split())


def is_shown_by(text: str, printed: str) -> bool:
    parts = re.split(r"^ *\.\.\.$|\.\.\. *$", text, flags=re.MULTILINE)
    pattern = ".*".join(re.escape(without_numbers(part)) for part in parts)
    return re.fullmatch(pattern, without_numbers(printed), re.DOTALL) is not None


def names() -> list:
    return [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in SHOWN]


@pytest.mark.parametrize("name", names())
def test_the_output_is_as_shown(name: str, place: Path) -> None:
    command, text = SHOWN[name]
    printed = nanscope(place, *shlex.split(command))
    assert is_shown_by(text, printed), printed


def test_there_is_something_to_compare() -> None:
    assert len(SHOWN) >= 8
    assert is_shown_by("a 1\n...\nb", "a 23\nmore\nb\n")
    assert not is_shown_by("a\nb", "a\nmore\nb")
    assert not is_shown_by("a\n...", "more\na\nb")


# ------------------------------------------------------------------ what stands there without `$`
def blocks(page: str, kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)


ALLOWED = """import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.0)


def find_learning_rate(model):
    (model(torch.ones(1, 2)) + torch.log(torch.zeros(1))).sum().backward()
    return 0.1
"""


def test_allow(tmp_path: Path) -> None:
    (code,) = blocks("allow.md", "python")
    program = ALLOWED + code
    program += "\n" * (39 - program.count("\n")) + "y = 1  # nanscope: allow\n"
    (tmp_path / "train.py").write_text(program)
    said = nanscope(tmp_path, "run", "train.py")
    (shown,) = blocks("allow.md", "text")
    for line in shown.splitlines():
        assert line in " ".join(said.split()), said


def test_the_table_of_pyproject(tmp_path: Path) -> None:
    (table,) = blocks("allow.md", "toml")
    (tmp_path / "pyproject.toml").write_text(table)
    (tmp_path / "train.py").write_text(HEALTHY)
    said = nanscope(tmp_path, "run", "--json", "report.json", "train.py")
    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["verdict"], report["program"]["mode"]) == ("clean", "sentinel"), said
    allowed = [one["what"] for one in report["coverage"]["allowed"]]
    assert allowed == [
        f"--allow {tmp_path / name}" for name in ("losses.py:31", "legacy/metrics.py")
    ]


BY_HAND = """
import sys, torch
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)

def loss_of(model, batch):
    return torch.log(batch[0] + 0 * model(batch[0])).mean()
"""
TRAIN = (
    BY_HAND
    + """
rows = torch.ones(8, 2)
rows[5] = -1
for batch in torch.utils.data.DataLoader(torch.utils.data.TensorDataset(rows), batch_size=2):
    optimizer.zero_grad()
    loss_of(model, batch).backward()
    optimizer.step()
"""
)


def test_a_kept_step_by_hand(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    said = nanscope(tmp_path, "run", "--bad-batch", "bad", "train.py")
    assert "Kept: " in said
    (lines,) = blocks("replay.md", "python")
    program = f"{BY_HAND}\n{lines}\nprint(loss.isnan().item(), kept['batch'])"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout.startswith("True [tensor([["), done.stderr


COMPILED = """import torch

net = torch.nn.Linear(4, 1)
@torch.compile(backend="aot_eager")
def loss_fn(p, y):
    return -(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()

torch.nn.init.zeros_(net.weight), torch.nn.init.ones_(net.bias)
x, y = torch.ones(2, 4), torch.ones(2, 1)
loss = loss_fn(net(x), y)
loss.backward(), torch.optim.SGD(net.parameters(), 0.1).step()
"""


@pytest.mark.slow
def test_compiled(tmp_path: Path) -> None:
    way = blocks("compiled.md", "text")[0]
    (tmp_path / "train.py").write_text(COMPILED)
    assert is_shown_by("...\n" + way + "\n...", nanscope(tmp_path, "run", "train.py"))


@pytest.mark.release
def test_only_when_compiled(tmp_path: Path) -> None:
    cause = blocks("compiled.md", "text")[1]
    shutil.copy(ROOT / "tests/compiled/cases/only_when_compiled.py", tmp_path / "train.py")
    assert is_shown_by("...\n" + cause + "\n...", nanscope(tmp_path, "run", "train.py"))


@pytest.mark.slow
def test_the_self_test(tmp_path: Path) -> None:
    (line,) = [text for text in blocks("doctor.md", "text") if text.startswith("self-test")]
    assert is_shown_by("...\n" + line + "\n...", nanscope(tmp_path, "doctor", "--self-test"))
