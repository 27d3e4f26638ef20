"""The kernel for CUDA, by its own text: compiled by NVRTC, and run on the test device."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from moving import environment

from watched import ENVIRONMENT, ROOT, watch

BAD = (
    "import lag, torch\n"
    "fake = lag.look_by_fake_cuda()\n"
    "w = torch.nn.Parameter(torch.ones(2, device='lag'))\n"
    "x = torch.tensor([1.0, 0.0], device='lag')\n"
    "loss = (w * torch.log(x)).sum()\n"
    "print(fake.fake_cuda_launched() > 0, fake.fake_cuda_wrong())\n"
    "loss.backward()\n"
    "torch.optim.SGD([w], lr=0.1).step()\n"
)
TYPES = ("F32", "F64", "F16", "F8", "FNUZ", "E8M0")
ARCHITECTURES = (75, 80, 86, 89, 90, 100, 120)


@pytest.fixture
def device_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment().items():
        monkeypatch.setitem(ENVIRONMENT, name, value)


def test_the_device_is_looked_at_by_the_kernel(
    tmp_path: Path, device_can_be_imported: None
) -> None:
    seen = watch(BAD, tmp_path)
    assert seen.out == "True b''\n", seen.err
    assert (seen.error["origin"]["op"], seen.error["origin"]["site"]["line"]) == ("aten::log", 5)
    healthy = watch(BAD.replace("0.0", "2.0"), tmp_path)
    assert (healthy.out, healthy.report["verdict"]) == ("True b''\n", "clean"), healthy.err


# No driver, no compiler, a kernel that the driver refuses, one that fails at some time.
@pytest.mark.parametrize(
    "trouble",
    [
        "_torch.look_by_cuda_libraries('lag', 'libno.so', 'libno.so')",
        "_torch.look_by_cuda_libraries('lag', fake._name, 'libno.so')",
        "fake.fake_cuda_let_fail(b'cuModuleLoadData')",
        "(torch.ones(3, device='lag') + 1, fake.fake_cuda_let_fail(b'cuLaunchKernel'))",
    ],
)
def test_without_the_kernel_the_device_is_looked_at_all_the_same(
    trouble: str, tmp_path: Path, device_can_be_imported: None
) -> None:
    text = BAD.replace("fake_cuda()\n", f"fake_cuda(); from nanscope import _torch; {trouble}\n")
    seen = watch(text.replace("fake.fake_cuda_launched() > 0", "_torch.cuda_looks()[0]"), tmp_path)
    assert seen.error["origin"]["op"] == "aten::log", seen.err
    assert seen.out.startswith("0 "), seen.out


def compiler() -> str:
    return str(next((ROOT / ".venv" / "nvrtc").rglob("libnvrtc.so.*")))


@pytest.mark.release
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_nvrtc_compiles_it(architecture: int) -> None:
    import torch  # noqa: F401 - nanscope._torch needs its libraries

    from nanscope import _torch

    for name in TYPES:
        cubin = _torch.cuda_cubin(compiler(), architecture, name)
        machine = struct.unpack_from("<H", cubin, 18)[0]
        assert (cubin[:4], machine) == (b"\x7fELF", 190)
        assert b".text.dense\0" in cubin
        assert b".text.strided\0" in cubin


@pytest.mark.release
def test_nvrtc_says_what_it_cannot_do() -> None:
    import torch  # noqa: F401

    from nanscope import _torch

    with pytest.raises(RuntimeError, match="gpu-architecture"):
        _torch.cuda_cubin(compiler(), 999, "F32")
