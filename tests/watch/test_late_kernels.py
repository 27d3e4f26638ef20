"""What libraries in C++ bring in mid-run: kernels over wrapped ones, and functions that are no ops.

Note [Kernels that come late], Note [Memory of extensions].
"""

from __future__ import annotations

import subprocess
import sysconfig
from pathlib import Path

import pytest

from watched import watch

SOURCE = r"""// Kernels that a program brings when it runs already; all of them give NaN.
#include <ATen/ATen.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/library.h>

#include <limits>

at::Tensor spoiled(const at::Tensor& x) {
  at::Tensor y = at::empty_like(x);
  for (int64_t i = 0; i < y.numel(); ++i)
    y.data_ptr<float>()[i] = std::numeric_limits<float>::quiet_NaN();
  return y;
}

// In the place of one that is wrapped; of one that proves its results finite; for an op of its own.
TORCH_LIBRARY_IMPL(aten, CPU, m) {
  m.impl("erf", spoiled);
  m.impl("tanh", spoiled);
}
TORCH_LIBRARY(latelib, m) { m.def("f(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(latelib, CPU, m) { m.impl("f", spoiled); }

// Not by being loaded, so that nobody can notice it before it is called.
extern "C" void replace(const char* op, int autograd) {
  const auto key = autograd != 0 ? c10::DispatchKey::AutogradCPU : c10::DispatchKey::CPU;
  auto* library = new torch::Library(torch::Library::IMPL, "aten", key, __FILE__, __LINE__);
  library->impl(op, spoiled);
}

// A function for Python that is no op.
extern "C" PyObject* made(PyObject* x) {
  return THPVariable_Wrap(spoiled(THPVariable_Unpack(x)));
}
"""

BEGIN = """
import ctypes, sys
import torch
x = torch.rand(50)
w = torch.ones(50, requires_grad=True)
opt = torch.optim.SGD([w], 0.1)
def train(v):
    opt.zero_grad()
    (w * v).sum().backward()
    opt.step()
train(x)
library = sys.argv[1]
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    import torch

    folder = Path(torch.__file__).parent
    made = tmp_path_factory.mktemp("late") / "late_kernels.so"
    source = made.with_suffix(".cc")
    source.write_text(SOURCE)
    includes = [folder / "include", folder / "include/torch/csrc/api/include"]
    includes.append(Path(sysconfig.get_path("include")))
    command = ["g++", "-std=c++20", "-O0", "-shared", "-fPIC", str(source), "-o", str(made)]
    command += [f"-I{include}" for include in includes]
    command += [f"-L{folder / 'lib'}", "-ltorch_python", "-ltorch_cpu", "-lc10"]
    subprocess.run(command, check=True, timeout=600)
    return str(made)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lines", "op"),
    [
        ("torch.ops.load_library(library); train(torch.erf(x))", "aten::erf"),
        ("torch.ops.load_library(library); train(torch.tanh(x))", "aten::tanh"),
        ("torch.ops.load_library(library); train(torch.ops.latelib.f(x))", "latelib::f"),
        (
            "ctypes.CDLL(library); print(torch.erf(x).sum().item()); train(torch.erf(x))",
            "aten::erf",
        ),
    ],
    ids=["of torch", "with a proof", "of its own", "by ctypes"],
)
def test_a_kernel_of_a_library_is_wrapped(
    lines: str, op: str, library: str, tmp_path: Path
) -> None:
    seen = watch(BEGIN + lines, tmp_path, args=(library,))
    assert seen.error["origin"]["op"] == op
    assert seen.error["origin"]["kind"] == "birth"


@pytest.mark.slow
@pytest.mark.parametrize("autograd", [0, 1], ids=["in its place", "before it"])
def test_what_could_not_be_noticed_is_counted(autograd: int, library: str, tmp_path: Path) -> None:
    lines = f"""
library = ctypes.CDLL(library)
library.replace(b"erfc", {autograd})
torch.nan_to_num(torch.special.erfc(x))
"""
    seen = watch(BEGIN + lines, tmp_path, args=(library,))
    assert (seen.status, seen.report["verdict"]) == (0, "unknown"), seen.err
    unwatched = {part["what"] for part in seen.report["coverage"]["not_watched"]}
    assert unwatched == {"kernels that came late"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("last", "harm"),
    [("train(y)", "gradient"), ("torch.nn.BatchNorm1d(50).running_mean.copy_(y)", "buffer")],
)
def test_memory_that_an_extension_took_and_wrote(
    last: str, harm: str, library: str, tmp_path: Path
) -> None:
    lines = f"""
library = ctypes.PyDLL(library)
library.made.argtypes = [ctypes.py_object]
library.made.restype = ctypes.py_object
y = library.made(x)
{last}
"""
    seen = watch(BEGIN + lines, tmp_path, args=(library,))
    origin, cause = seen.error["origin"], seen.error["cause"]
    assert (origin["kind"], origin["site"]["code"]) == ("unwatched", "library.made(x)")
    assert (cause["id"], cause["certainty"]) == ("unwatched_kernel", "likely"), cause["sentence"]
    assert seen.error["harm"]["kind"] == harm


@pytest.mark.slow
def test_a_library_without_kernels_changes_nothing(library: str, tmp_path: Path) -> None:
    seen = watch(BEGIN + "import _bz2, sqlite3\ntrain(torch.erf(x))", tmp_path, args=(library,))
    assert (seen.status, seen.report["verdict"]) == (0, "clean"), seen.err
