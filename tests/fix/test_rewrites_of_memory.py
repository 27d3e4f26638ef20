"""Softmax along the mask, results in memory of their own, roots without a slope."""

from __future__ import annotations

from dataclasses import replace

import pytest
from proposing import case_of, patched, tensor

from nanscope.findings import Maker
from nanscope.fix.patch import propose


def proposals(folder, marked, cause, *facts, **more):
    case = case_of(folder, marked, cause, *facts, **more)
    return {c.id: (c, patched(case, c)) for c in propose.candidates(case)}


SCORES = tensor(name="s", shape=[4, 6, 6], at_index=[])


def masked(folder, code: str, shape: list[int]):
    case = case_of(folder, f"import torch\np = «{code}»\n", "all_masked_softmax", SCORES)
    mask = tensor("saved mask", name="pad", dtype="bool", shape=shape, saved="mask")
    made = Maker("MaskedFillBackward0", case.origin.site, 0, [mask], [])
    case.finding = replace(case.finding, makers=[made])
    return {c.id: (c, patched(case, c)) for c in propose.candidates(case)}


@pytest.mark.parametrize("code", ["torch.softmax(s, dim=1)", "s.softmax(1)", "s.softmax(-2)"])
def test_softmax_over_another_dimension_than_the_mask(tmp_path, code):
    found = masked(tmp_path, code, [4, 1, 6])
    first, text = next(iter(found.values()))
    assert first.id == "softmax_along_the_mask"
    assert first.alters and not first.workaround
    assert "-1)" in text and "dim=1" not in text
    assert all(c.workaround for c, _ in found.values() if c is not first)


@pytest.mark.parametrize(
    ("code", "shape"),
    [
        ("s.softmax(-1)", [4, 1, 6]),  # along the mask
        ("s.softmax(-1)", [4, 6, 1]),  # rows are masked: the mask may be meant so
        ("s.softmax(1)", [4, 6, 6]),
        ("s.softmax(1)", [6, 6]),
    ],
)
def test_a_mask_that_varies_along_softmax(tmp_path, code, shape):
    found = masked(tmp_path, code, shape)
    assert "softmax_along_the_mask" not in found
    assert not found["guard_masked_rows"][0].workaround


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("    x = torch.from_numpy(a[i])\n    «x.log_()»", "    x = x.log()"),
        ("    x = torch.from_numpy(a[i]).view(-1)\n    y = «x.log_()»", "    y = x.log()"),
        ("    y = «torch.from_numpy(a[i]).log_()»", "    y = torch.from_numpy(a[i]).log()"),
        ("    x = a[i]\n    «x /= i + 1»", "    x = x / (i + 1)"),
    ],
)
def test_memory_of_its_own(tmp_path, before, after):
    program = f"import torch\ndef f(a, i):\n{before}\n"
    cause = "float_overflow" if "/=" in before else "log_of_negative"
    found = proposals(tmp_path, program, cause)
    candidate, text = found["own_memory"]
    assert text.splitlines()[-1] == after
    assert candidate.losses_must_be_kept
    assert next(iter(found)) == "own_memory"


def test_memory_of_who_calls(tmp_path):
    """It may be theirs alone: tried behind all else."""
    found = proposals(tmp_path, "import torch\ndef f(x):\n    «x.log_()»\n", "log_of_negative")
    assert next(iter(found)) != "own_memory"
    assert found["own_memory"][1].endswith("    x = x.log()\n")


@pytest.mark.parametrize(
    "lines",
    [
        "    x = a + 1\n    «x.log_()»",  # its own already
        "    x = a[i]\n    y = «x.log()»",
        "    «a.x.log_()»",  # others are meant to see it
    ],
)
def test_memory_that_nobody_else_reads(tmp_path, lines):
    program = f"import torch\ndef f(a, i):\n{lines}\n"
    assert "own_memory" not in proposals(tmp_path, program, "log_of_negative")


def test_a_root_that_nobody_asks_a_slope_of(tmp_path):
    program = "import torch\ny = «q.sqrt()»\n"
    negative = tensor(name="q", at_index=[-1e-7], negatives=1)
    found = proposals(tmp_path, program, "cancellation", negative)
    assert found["clamp_before_sqrt"][1].endswith("y = q.clamp(min=0).sqrt()\n") is False
    first = case_of(tmp_path, program, "cancellation", negative)
    assert patched(first, propose.candidates(first)[0]).endswith("q.clamp(min=0).sqrt()\n")
    trained = replace(negative, requires_grad=True)
    case = case_of(tmp_path, program, "cancellation", trained)
    assert not any("clamp(min=0)" in patched(case, c) for c in propose.candidates(case))
