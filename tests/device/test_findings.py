"""The same finding, to the column, wherever the tensors are."""

from __future__ import annotations

from pathlib import Path

import pytest
from moving import differences, environment

from watched import ENVIRONMENT, ROOT, Watched, watch

FEW = [
    ("acos_above_one_by_rounding", "lazy"),
    ("clamp_before_acos_backward", "lazy"),
    ("vae", "threaded"),
]
REPORTED = (
    "import lag, torch\n"
    "w = torch.nn.Parameter(torch.ones(2, device='lag'))\n"
    "x = torch.tensor([1.0, 0.0], device='lag')\n"
    "loss = (w * torch.log(x)).sum()\n"
    "loss.backward()\n"
    "torch.optim.SGD([w], lr=0.1).step()\n"
)


@pytest.fixture
def device_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment().items():
        monkeypatch.setitem(ENVIRONMENT, name, value)


@pytest.mark.parametrize(("name", "mode"), FEW, ids=[name for name, _ in FEW])
def test_same_finding(name: str, mode: str, tmp_path: Path) -> None:
    assert differences(ROOT / "tests" / "cases" / f"{name}.py", mode, tmp_path) == {}


def gaps(seen: Watched) -> list[str]:
    return [gap["what"] for gap in seen.report["coverage"]["not_watched"]]


def test_an_operand_says_where_it_is(tmp_path: Path, device_can_be_imported: None) -> None:
    seen = watch(REPORTED, tmp_path)
    origin = seen.error["origin"]
    assert (origin["kind"], origin["op"], origin["site"]["line"]) == ("birth", "aten::log", 4)
    assert [tensor["device"] for tensor in seen.error["inputs"]] == ["lag:0"]
    assert seen.error["cause"]["id"] == "log_of_zero"
    assert seen.error["cause"]["certainty"] == "certain"


def test_a_healthy_run_is_clean(tmp_path: Path, device_can_be_imported: None) -> None:
    seen = watch(REPORTED.replace("0.0", "2.0"), tmp_path)
    assert (seen.report["verdict"], gaps(seen)) == ("clean", [])


# A backend whose maximum drops NaN, and one that cannot compute it.
@pytest.mark.parametrize("norm", ["torch.nan_to_num(x).abs().amax()", "1 / 0"])
def test_a_device_that_hides_nan_is_not_believed(
    norm: str, tmp_path: Path, device_can_be_imported: None
) -> None:
    blind = (
        "import lag, torch\n"
        "@torch.library.impl('aten::linalg_vector_norm', 'PrivateUse1')\n"
        "def norm(x, ord=2, dim=None, keepdim=False, dtype=None):\n"
        f"    return {norm}\n"
    )
    seen = watch(blind + REPORTED.replace("0.0", "2.0"), tmp_path)
    assert seen.report["verdict"] == "unknown"
    assert gaps(seen) == ["results on another device"]
