"""What another device computes is counted, never passed over in silence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from watched import ENVIRONMENT, Watched, watch

DEVICES = Path(__file__).with_name("devices")


@pytest.fixture(autouse=True)
def device_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    known = os.environ.get("PYTHONPATH")
    monkeypatch.setitem(
        ENVIRONMENT, "PYTHONPATH", os.pathsep.join(filter(None, [str(DEVICES), known]))
    )


def results_elsewhere(seen: Watched) -> int:
    gaps = seen.report["coverage"]["not_watched"]
    return sum(gap["count"] for gap in gaps if gap["what"] == "results on another device")


def test_a_birth_on_another_device_is_no_clean_run(tmp_path: Path) -> None:
    seen = watch(
        "import torch, toy_device\n"
        "x = torch.ones(4).to('toy')\n"
        "print(x.log().log().sum().item())\n",
        tmp_path,
    )
    assert seen.out == "-inf\n" and seen.status == 0
    assert seen.report["verdict"] == "unknown"
    assert results_elsewhere(seen) >= 4, "copied there, three ops, read by the host"
    assert "NOT FULLY WATCHED" in seen.err


# Whether it comes back as a new tensor or into one that watched ops made and use in place.
@pytest.mark.parametrize(
    "comes_back",
    ["back = y.cpu()", "back = torch.empty(2); back.copy_(y)", "back = y.cpu(); back.add_(1)"],
)
def test_what_comes_back_bad_is_neither_data_nor_garbage(tmp_path: Path, comes_back: str) -> None:
    seen = watch(
        "import torch, toy_device\n"
        "y = torch.tensor([1.0, 0.0]).to('toy').log()\n"
        f"{comes_back}\n"
        "w = torch.nn.Parameter(torch.ones(2))\n"
        "(w * back).sum().backward()\n"
        "torch.optim.SGD([w], lr=0.1).step()\n",
        tmp_path,
    )
    assert seen.error["origin"]["kind"] == "unwatched"
    evidence = seen.error["cause"]["evidence"]
    assert any("computed on a device that is not watched" in sentence for sentence in evidence)
    assert not any("was finite" in sentence for sentence in evidence)


def test_what_a_watched_op_wrote_since_is_known_again(tmp_path: Path) -> None:
    seen = watch(
        "import torch, toy_device\n"
        "back = torch.tensor([1.0, 0.0]).to('toy').log().cpu()\n"
        "back.copy_(torch.tensor([1.0, 0.0]))\n"
        "w = torch.nn.Parameter(torch.ones(2))\n"
        "(w * back.log()).sum().backward()\n"
        "torch.optim.SGD([w], lr=0.1).step()\n",
        tmp_path,
    )
    assert (seen.error["origin"]["kind"], seen.error["origin"]["op"]) == ("birth", "aten::log")


def test_a_look_once_a_step_counts_parameters_elsewhere(tmp_path: Path) -> None:
    seen = watch(
        "import torch, toy_device\n"
        "w = torch.nn.Parameter(torch.ones(2))\n"
        "elsewhere = torch.nn.Parameter(torch.ones(2).to('toy'))\n"
        "step = torch.optim.SGD([w, elsewhere], lr=0.1)\n"
        "for _ in range(3):\n"
        "    step.zero_grad()\n"
        "    w.sum().backward()\n"
        "    step.step()\n",
        tmp_path,
        "--mode=sentinel",
    )
    assert results_elsewhere(seen) > 0 and seen.report["verdict"] == "unknown"


def test_what_holds_no_numbers_is_not_counted(tmp_path: Path) -> None:
    seen = watch(
        "import torch, toy_device\n"
        "torch.ones(3, device='meta').log()\n"
        "torch.empty(3, dtype=torch.int64, device='toy')\n"
        "torch.empty(3, device='toy')\n",
        tmp_path,
    )
    assert seen.report["verdict"] == "clean" and results_elsewhere(seen) == 0
