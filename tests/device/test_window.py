"""Ops that wait in a window for their looks: the same findings, fewer waits, the same program."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from moving import differences, environment, run_on
from test_every_case import CASES, INNOCENT, can_run

from watched import ENVIRONMENT, ROOT, watch

HERE = Path(__file__).parent
WINDOWS = {
    "1": {"NANSCOPE_WINDOW": "1"},
    "64": {"NANSCOPE_WINDOW": "64"},
    "512": {"NANSCOPE_WINDOW": "512"},
    "few bytes": {"NANSCOPE_WINDOW": "512", "NANSCOPE_WINDOW_BYTES": "600"},
}
FEW = [
    ("naive_softmax_overflows", "lazy", "512"),
    ("vae", "lazy", "few bytes"),
    ("clamp_before_acos_backward", "threaded", "64"),
]
# Born in the middle of what waits; carried on, and written over, before anybody looks.
BORN_IN_THE_WINDOW = (
    "import lag, torch\n"
    "w = torch.nn.Parameter(torch.ones(4, device='lag'))\n"
    "x = torch.full((4,), 60.0, device='lag')\n"
    "y = x * 1.0\n"
    "bad = (y + 30).exp()\n"
    "more = bad * w\n"
    "y.zero_()\n"
    "x = more + 1; del bad\n"
    "x.mul_(2.0)\n"
    "loss = x.sum()\n"
    "loss.backward()\n"
    "torch.optim.SGD([w], lr=0.1).step()\n"
)
TRAIN = (
    "import sys, torch, lag; sys.path.insert(0, {folder!r}); import training\n"
    "for kind in training.KINDS: print(kind, training.losses(kind, 'lag', 3))\n"
)
COUNT = (
    "import sys, torch, lag; sys.path.insert(0, {folder!r}); import training\n"
    "training.losses('gpt', 'lag', 1)\n"
    "before = lag.count('waits')\n"
    "training.losses('gpt', 'lag', 4)\n"
    "print(lag.count('waits') - before)\n"
)


def watched_with(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch, **more: str):
    for name, value in environment(**more).items():
        monkeypatch.setitem(ENVIRONMENT, name, value)
    return watch(text, folder)


@pytest.mark.parametrize(("name", "mode", "window"), FEW, ids=[name for name, *_ in FEW])
def test_same_finding(name: str, mode: str, window: str, tmp_path: Path) -> None:
    program = ROOT / "tests" / "cases" / f"{name}.py"
    assert differences(program, mode, tmp_path, **WINDOWS[window]) == {}


def test_what_was_born_and_is_gone_is_told_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = watched_with(BORN_IN_THE_WINDOW, tmp_path, monkeypatch, **WINDOWS["512"])
    origin = seen.error["origin"]
    assert (origin["op"], origin["site"]["line"], origin["pos_inf"]) == ("aten::exp", 5, 4)
    assert [tensor["max"] for tensor in seen.error["inputs"]] == [90.0]
    carried = [(link["op"], link["role"]) for link in seen.error["chain"]]
    assert carried[:2] == [("aten::exp", "birth"), ("aten::mul", "carrier")]


def test_a_program_computes_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = TRAIN.format(folder=str(HERE))
    seen = watched_with(text, tmp_path, monkeypatch, **WINDOWS["512"])
    plain = subprocess.run(
        [sys.executable, "-c", text],
        env={**os.environ, **environment(), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert plain.stdout.count("[") == 3, plain.stderr
    assert (seen.out, seen.report["verdict"]) == (plain.stdout, "clean")


def test_few_are_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = COUNT.format(folder=str(HERE))
    waits = {}
    for window in ("0", "512"):
        (tmp_path / window).mkdir()
        seen = watched_with(text, tmp_path / window, monkeypatch, NANSCOPE_WINDOW=window)
        waits[window] = int(seen.out)
    assert waits["512"] < waits["0"] * 2 / 3, waits


def test_memory_is_given_back_before_the_program_lacks_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = watched_with(
        "import lag, torch\n"
        "x = torch.ones(1 << 18, device='lag')\n"
        "for _ in range(100):\n"
        "    y = x + 1\n"
        "print(y.sum().item())\n",
        tmp_path,
        monkeypatch,
        LAG_BYTES=str(16 << 20),
        **WINDOWS["512"],
    )
    assert (seen.out, seen.report["verdict"]) == (f"{2.0 * (1 << 18)}\n", "clean")


def test_nothing_is_kept_for_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = watched_with(
        f"import sys, torch, lag; sys.path.insert(0, {str(HERE)!r}); import training\n"
        "def used():\n"
        "    training.losses('mlp', 'lag', 20)\n"
        "    lag.wait()\n"
        "    return lag.count('bytes_in_use')\n"
        "print(used() == used() == used())\n",
        tmp_path,
        monkeypatch,
        **WINDOWS["64"],
    )
    assert (seen.out, seen.report["verdict"]) == ("True\n", "clean")


@pytest.mark.release
@pytest.mark.parametrize("window", list(WINDOWS))
@pytest.mark.parametrize("program", list(filter(can_run, CASES)), ids=lambda path: path.stem)
def test_same_finding_of_every_case(program: Path, window: str, tmp_path: Path) -> None:
    assert differences(program, "lazy", tmp_path, **WINDOWS[window]) == {}


@pytest.mark.release
@pytest.mark.parametrize("program", list(filter(can_run, CASES)), ids=lambda path: path.stem)
def test_same_finding_of_every_case_on_a_thread(program: Path, tmp_path: Path) -> None:
    assert differences(program, "threaded", tmp_path, **WINDOWS["512"]) == {}


@pytest.mark.release
@pytest.mark.parametrize("window", ["64", "512"])
@pytest.mark.parametrize("program", list(filter(can_run, INNOCENT)), ids=lambda path: path.stem)
def test_silent(program: Path, window: str, tmp_path: Path) -> None:
    seen = run_on(program, tmp_path / "there", **WINDOWS[window])
    assert seen.first("error") is None, seen.err
    assert seen.report["verdict"] == "clean"
