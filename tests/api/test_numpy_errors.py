"""`numpy_errors`: the operation, its operands and the cause, read from the frame."""

from __future__ import annotations

import math

import jsonschema
import numpy as np
import pytest

import nanscope
from watched import SCHEMA


def found(function) -> nanscope.Finding:
    with pytest.raises(nanscope.NonFiniteError) as caught:
        with nanscope.numpy_errors() as block:
            function()
    finding = caught.value.finding
    assert finding is block.finding
    whole = {**SCHEMA, "$ref": "#/$defs/finding"}
    for key in ("type", "properties", "required"):
        whole.pop(key)
    jsonschema.validate(finding.to_json(), whole)
    for part in ("First Bad Operation", "Root Cause", "Input Statistics", "Fix", "Verification"):
        assert part in str(caught.value)
    assert "None is looked for here; `nanscope fix` knows" in str(caught.value)
    return finding


def log_of_zero():
    p = np.array([[0.5, 0.0], [1.0, 2.0]])
    return np.log(p[0])


def division():
    total, count = np.array([1.0, 0.0]), np.array([2, 0])
    return total / count


def one_over_zero():
    x = 0.0
    return np.float64(1) / x


def root():
    table = {"variance": np.array([4.0, -1e-9])}
    return np.sqrt(table["variance"])


def overflow():
    logits = np.array([1.0, 800.0])
    return np.exp(logits)


def product():
    x = np.array([2.0, 1e200])
    return x * x


def half():
    x = np.array([1.0, 70000.0])
    return x.astype(np.float16)


def in_place():
    x, count = np.array([1.0, 2.0]), np.array([1.0, 0.0])
    x /= count
    return x


def empty_mean():
    rows = np.zeros((0, 3))
    return rows.mean()


def garbage():
    """A signalling NaN, as a file read with the wrong type may hold."""
    angles = np.array([1.0, 2.0])
    angles.view(np.uint64)[1] = 0x7FF0000000000123
    return np.arctan2(angles, 1.0)


@pytest.mark.parametrize(
    ("function", "op", "code", "cause", "sentence"),
    [
        (log_of_zero, "log", "np.log(p[0])", "log_of_zero", "`p[0]` is 0 at [1]"),
        (division, "divide", "total / count", "division_by_zero", "`count` is 0 at [1]"),
        (one_over_zero, "divide", "np.float64(1) / x", "division_by_zero", "`x` is 0"),
        (root, "sqrt", 'np.sqrt(table["variance"])', "sqrt_of_negative", "is -1e-09 at [1]"),
        (overflow, "exp", "np.exp(logits)", "exp_overflow", "`logits` is 800 at [1]"),
        (product, "multiply", "x * x", "float_overflow", "1.79769e+308"),
        (half, "cast", "x.astype(np.float16)", "half_overflow", "float16 ends at 65504"),
        (in_place, "divide", "x /= count", "division_by_zero", "`count` is 0 at [1]"),
        (empty_mean, "mean", "rows.mean()", "empty_reduction", "`rows` has no elements"),
        (garbage, "arctan2", None, "bad_input_data", "`angles` came in with 1 nan"),
    ],
)
@pytest.mark.filterwarnings("ignore:Mean of empty slice")
def test_operation_operands_and_cause(function, op, code, cause, sentence) -> None:
    finding = found(function)
    origin = finding.origin
    assert (origin.op, origin.site.function) == (f"numpy::{op}", function.__name__)
    assert code is None or origin.site.code == code
    assert finding.cause.id == cause and sentence in finding.cause.sentence, finding.cause
    assert finding.inputs and not math.isfinite(abs(origin.value))


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "complex64", "complex128"])
def test_uninitialised_memory_is_named_by_its_allocation(dtype: str) -> None:
    def unwritten():
        buffer = np.empty((2, 3), dtype)
        buffer[0] = 1
        return buffer + 1

    finding = found(unwritten)
    assert finding.origin.kind == "uninitialised" and finding.cause.id == "uninitialised_memory"
    assert finding.origin.site.code == "np.empty((2, 3), dtype)"
    assert finding.chain[-1].site.code == "buffer + 1" and finding.origin.index == [1, 0]


def test_arctan2_of_uninitialised_memory() -> None:
    def angle():
        y = np.empty(3)
        other = np.empty_like(y)
        y[:] = 0.5
        return np.arctan2(y, other)

    assert found(angle).origin.site.code == "np.empty_like(y)"


def test_memory_that_is_written_first_is_fine() -> None:
    with nanscope.numpy_errors() as block:
        x = np.empty(4)
        x[:] = 2
        y = np.empty((2, 2), int)
        y[...] = 1
        assert (np.sqrt(x) + y.sum()).shape == (4,)
    assert block.finding is None


def test_calls_are_never_evaluated_again() -> None:
    calls = []

    def zeros() -> np.ndarray:
        calls.append(1)
        return np.zeros(2)

    class Table:
        def __getitem__(self, key):
            calls.append(key)
            return np.zeros(2)

        @property
        def column(self):
            calls.append("column")
            return np.zeros(2)

    table = Table()
    for function in (lambda: 1.0 / zeros(), lambda: 1.0 / table[0], lambda: 1.0 / table.column):
        calls.clear()
        finding = found(function)
        assert len(calls) == 1
        assert finding.cause.id == "division_by_zero" and finding.cause.certainty == "likely"


def test_the_first_is_reported_and_the_program_goes_on(capsys: pytest.CaptureFixture) -> None:
    x = np.array([0.0, 1.0])
    with nanscope.numpy_errors("report") as block:
        first = np.log(x)
        second = np.sqrt(-x)
    assert first[0] == -np.inf and np.isnan(second[1])
    assert block.finding.origin.op == "numpy::log" and block.finding.inputs[0].name == "x"
    assert capsys.readouterr().err.count("First Bad Operation") == 1
    reported = []
    with nanscope.numpy_errors(reported.append):
        np.sqrt(-x)
    assert [finding.cause.id for finding in reported] == ["sqrt_of_negative"]


def test_nothing_is_left_behind() -> None:
    empty, like, state = np.empty, np.empty_like, np.geterr()
    with pytest.raises(KeyError), nanscope.numpy_errors():
        assert np.empty is not empty
        raise KeyError
    assert np.empty is empty and np.empty_like is like and np.geterr() == state


def test_decorator_and_bad_use() -> None:
    @nanscope.numpy_errors()
    def share(part, whole):
        return part / whole

    assert share(np.ones(1), np.ones(1)) == 1
    with pytest.raises(nanscope.NonFiniteError, match="`whole` is 0"):
        share(np.ones(1), np.zeros(1))
    assert share(np.ones(1), np.ones(1)) == 1
    with pytest.raises(RuntimeError, match="already on"), nanscope.numpy_errors():
        with nanscope.numpy_errors():
            pass
    with pytest.raises(ValueError, match="on_find"):
        nanscope.numpy_errors("print")


def test_a_mask_with_where_is_not_an_error() -> None:
    x = np.array([0.0, 1.0])
    with nanscope.numpy_errors():
        y = np.log(x, out=np.zeros_like(x), where=x > 0)
        z = np.nan_to_num(np.array([np.nan, 1.0])) + np.nan
    assert y.tolist() == [0, 0] and np.isnan(z).all()
