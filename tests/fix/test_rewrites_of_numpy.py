"""What NumPy computed before torch was given it: patches, and how they are measured."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch
from proposing import first, proposals, tensor

from nanscope.fix.run.probe import Place, Probe

HEAD = "import numpy as np\nimport torch\n"
SPREAD = tensor("other", shape=[6], mean=3.2)


def body(folder, line: str, cause: str, op: str, *inputs) -> str:
    text = first(folder, HEAD + line, cause, *inputs, op=f"numpy::{op}")
    assert text.startswith(HEAD)
    return text.removeprefix(HEAD)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = «(x - m) / std»", "y = (x - m) / np.where(std == 0, 1.0, std)"),
        ("«x /= std»", "x /= np.where(std == 0, 1.0, std)"),
        ("y = «np.divide(x, s + t)»", "y = np.divide(x, np.where(s + t == 0, 1.0, s + t))"),
        ("y = «x / (a > 0).sum(0)»", "y = x / np.maximum((a > 0).sum(0), 1)"),
    ],
)
def test_an_array_that_divides(tmp_path, before, after):
    assert body(tmp_path, before, "division_by_zero", "divide", SPREAD) == after


def test_a_number_that_divides(tmp_path):
    number = tensor("other", shape=[], mean=0.0)
    found = body(tmp_path, "y = «s / np.float64(n - w)»", "division_by_zero", "divide", number)
    assert found == "y = s / (np.float64(n - w) or 1.0)"


@pytest.mark.parametrize(
    ("cause", "op", "before", "after"),
    [
        ("log_of_zero", "log", "y = «np.log(p)»", "y = np.log(np.maximum(p, 1e-8))"),
        ("sqrt_of_negative", "sqrt", "y = «np.sqrt(v)»", "y = np.sqrt(np.maximum(v, 0.0))"),
        ("exp_overflow", "exp", "y = «np.exp(z)»", "y = np.exp(np.minimum(z, 80.0))"),
        (
            "empty_reduction",
            "mean",
            "y = float(«np.mean(xs)»)",
            "y = float(np.mean(xs) if len(xs) else 0.0)",
        ),
    ],
)
def test_functions(tmp_path, cause, op, before, after):
    assert body(tmp_path, before, cause, op) == after


def test_where_the_program_has_its_own_way_nothing_is_proposed(tmp_path):
    line = HEAD + "y = «np.divide(a, b, out=z, where=b > 0)»"
    assert proposals(tmp_path, line, "division_by_zero", SPREAD, op="numpy::divide") == {}


def test_a_divisor_that_draws_is_not_computed_twice(tmp_path):
    line = HEAD + "y = «x / rng.normal(size=3)»"
    assert proposals(tmp_path, line, "division_by_zero", SPREAD, op="numpy::divide") == {}


# -------------------------------------------------------------------------- how it is measured
def seen(original, patched, *values) -> Place:
    probe = Probe(False, False)
    probe.compare(0, original, patched, patched, *values)
    assert not probe.place(0).fault
    return probe.place(0)


def test_healthy_columns_are_kept():
    table = np.float32([[1.0, 0.0], [3.0, 0.0]])
    spread = table.std(axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of our own computation nobody hears
        place = seen(lambda x, s: x / s, lambda x, s: x / np.where(s == 0, 1.0, s), table, spread)
    assert place.compared == place.met == 1 and not place.still_bad and not place.mismatch
    assert place.healthy == 2 and place.identical


def test_another_divisor_is_a_change():
    table = np.float32([[1.0, 0.0], [3.0, 0.0]])
    spread = table.std(axis=0)
    place = seen(lambda x, s: x / s, lambda x, s: x / (s + np.float32(1.0)), table, spread)
    assert place.largest_difference > 0.1


def test_a_mean_of_nothing_becomes_a_number():
    place = seen(np.mean, lambda xs: np.mean(xs) if len(xs) else 0.0, [])
    assert place.met == 1 and not place.still_bad and not place.mismatch


def test_tensors_are_measured_as_before():
    x = torch.tensor([0.0, 2.0])
    place = seen(lambda x: 1 / x, lambda x: 1 / x.masked_fill(x == 0, 1.0), x)
    assert place.met == 1 and place.healthy == 1 and place.identical
