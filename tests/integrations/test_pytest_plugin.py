"""`pytest --nanscope` in a process of its own, as a user starts it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from watched import ROOT

TESTS = """
import pytest, torch

def train(p):
    w = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([w], 0.1)
    loss = (w * torch.log(p)).sum()
    loss.backward()
    optimizer.step()
    return w

BAD, GOOD = torch.tensor([0.0, 0.2, 0.3]), torch.tensor([0.1, 0.2, 0.3])

def test_healthy():
    train(GOOD)

def test_unmarked():
    train(BAD)

@pytest.mark.finite
def test_finite():
    train(BAD)

@pytest.mark.finite
def test_finite_and_healthy():
    train(GOOD)

@pytest.mark.expect_nonfinite("log_of_zero")
def test_expected():
    train(BAD)

@pytest.mark.expect_nonfinite("division_by_zero")
def test_expected_another():
    train(BAD)

@pytest.mark.expect_nonfinite
def test_expected_any():
    train(GOOD)

@pytest.mark.expect_nonfinite("log_of_zero")
def test_expected_and_tested():
    assert torch.isinf(torch.log(torch.zeros(2))).all()

@pytest.fixture
def weights():
    return train(BAD)

def test_fixture(weights):
    assert weights is not None

@pytest.mark.skip
@pytest.mark.finite
def test_skipped():
    train(BAD)

@pytest.mark.finite
def test_fails_by_itself():
    assert train(BAD) is None
"""
FAILS = {"test_finite", "test_expected_another", "test_expected_any", "test_fails_by_itself"}


def run_pytest(folder: Path, *options: str, ini: str = "") -> subprocess.CompletedProcess:
    (folder / "test_training.py").write_text(TESTS)
    (folder / "pytest.ini").write_text(f"[pytest]\n{ini}")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rfE", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


def failed(text: str) -> set[str]:
    lines = [line for line in text.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return {line.split("::")[1].split()[0] for line in lines}


def section(text: str) -> str:
    """What stands under the heading `nanscope`."""
    after = text.split("= nanscope =", 1)[1]
    return after.split("\n=", 1)[0]


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_watches_tests_and_tells_at_the_end(tmp_path: Path, workers: tuple[str, ...]) -> None:
    seen = run_pytest(tmp_path, "--nanscope", *workers)
    assert seen.returncode == 1, seen.stdout + seen.stderr
    assert failed(seen.stdout) == FAILS, seen.stdout
    told = section(seen.stdout)
    # One bug, told once, with every test that met it.
    assert told.count("aten::log made -inf") == 1
    for name in ("test_unmarked", "test_finite", "test_fixture (fixtures)"):
        assert f"test_training.py::{name}\n" in told
    assert "10 tests watched; in 4 a NaN or Inf did harm, in 2 as expected." in told
    assert "expected division_by_zero, but met log_of_zero." in seen.stdout
    assert "expected a NaN or Inf, but none was met." in seen.stdout


def test_ini_file_switches_it_on(tmp_path: Path) -> None:
    seen = run_pytest(tmp_path, "-k", "test_unmarked", ini="nanscope = true\n")
    assert seen.returncode == 0, seen.stdout + seen.stderr
    assert "1 tests watched; in 1 a NaN or Inf did harm" in section(seen.stdout)


def test_markers_do_nothing_where_it_is_off(tmp_path: Path) -> None:
    seen = run_pytest(tmp_path, "--strict-markers")
    assert failed(seen.stdout) == {"test_fails_by_itself"}
    assert "= nanscope =" not in seen.stdout


def test_a_cause_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "test_other.py").write_text(
        "import pytest\n\n\n@pytest.mark.expect_nonfinite('log_of_zer')\ndef test_a():\n    pass\n"
    )
    seen = run_pytest(tmp_path, "--nanscope", "test_other.py")
    assert seen.returncode == 4
    assert "log_of_zero" in seen.stderr


def test_the_example_runs(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--nanscope"]
    example = ROOT / "examples/integrations/test_training.py"
    seen = subprocess.run([*command, example], cwd=tmp_path, capture_output=True, text=True)
    assert seen.returncode == 0, seen.stdout
    assert "2 tests watched; in 0 a NaN or Inf did harm, in 1 as expected." in seen.stdout
