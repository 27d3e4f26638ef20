"""nanscope as others install it: `pip install .` beside a torch that is already there."""

import importlib.metadata
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from nanscope import support

# What any Linux system with a C++ program on it has.
SYSTEM_LIBRARIES = {
    "libc.so.6",
    "libm.so.6",
    "libgcc_s.so.1",
    "libstdc++.so.6",
    "libpthread.so.0",
    "libdl.so.2",
    "ld-linux-x86-64.so.2",
}
TORCH_LIBRARIES = {"libc10.so", "libtorch_cpu.so", "libtorch_python.so"}


def run(*command, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(word) for word in command],
        check=False,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        **options,
    )


def succeed(*command, **options) -> str:
    outcome = run(*command, **options)
    assert outcome.returncode == 0, outcome.stdout
    return outcome.stdout


def with_what_it_needs(*names: str) -> list[importlib.metadata.Distribution]:
    """These distributions of our own environment and all that they depend on."""
    found: dict[str, importlib.metadata.Distribution] = {}
    waiting = list(names)
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in found:
            continue
        try:
            found[name] = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # meant for another platform or extra
        requirements = found[name].requires or []
        waiting += [re.match(r"[\w.-]+", r).group() for r in requirements if "extra ==" not in r]
    return list(found.values())


class Environment:
    """A fresh virtual environment that has torch.

    Torch and what it needs are links to the packages of our own environment: installing a
    gigabyte once more would take longer than all other tests, and to pip, to CMake and to the
    interpreter a linked package is an installed one.
    """

    def __init__(self, folder: Path):
        succeed(sys.executable, "-m", "venv", folder)
        self.bin = folder / "bin"
        self.packages = next(folder.glob("lib/python3*/site-packages"))

    def add(self, *names: str) -> None:
        for distribution in with_what_it_needs(*names):
            entries = {file.parts[0] for file in distribution.files or []}
            for entry in entries - {"..", "__pycache__"}:
                link = self.packages / entry
                if not link.exists():
                    link.symlink_to(distribution.locate_file(entry))

    def versions(self) -> set[str]:
        return set(succeed(self.bin / "python", "-m", "pip", "freeze").splitlines())

    def pip_install(self, *arguments) -> None:
        succeed(
            *("nice", self.bin / "python", "-m", "pip", "install"),
            *("--disable-pip-version-check", *arguments),
        )


def needed_libraries(library: Path) -> set[str]:
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", succeed("readelf", "-d", library)))


def search_path(library: Path) -> list[str]:
    return re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", succeed("readelf", "-d", library))


def check_installed(environment: Environment, elsewhere: Path) -> None:
    version = succeed(environment.bin / "nanscope", "--version", cwd=elsewhere)
    assert re.search(r"\d+\.\d+\.\d+", version)
    succeed(environment.bin / "python", "-c", "import torch, nanscope._torch", cwd=elsewhere)

    package = environment.packages / "nanscope"
    libraries = {library.name.split(".")[0]: library for library in package.glob("*.so")}
    adapter = support.adapter_of(importlib.metadata.version("torch"))
    assert set(libraries) == {"_core", adapter, "libnanscope_core"}
    assert needed_libraries(libraries["libnanscope_core"]) <= SYSTEM_LIBRARIES
    ours = SYSTEM_LIBRARIES | {"libnanscope_core.so"}
    assert needed_libraries(libraries["_core"]) <= ours
    assert needed_libraries(libraries[adapter]) <= ours | TORCH_LIBRARIES
    for module in ("_core", adapter):
        assert search_path(libraries[module]) == ["$ORIGIN"]
    assert "not found" not in succeed("ldd", libraries["_core"])
    assert (package / "py.typed").exists()
    assert not list(package.rglob("*.cc"))


# Whole builds. Without isolation is how `make build` installs, so that each CI has done it before.
@pytest.mark.parametrize(
    "isolation",
    [
        pytest.param(True, id="isolated", marks=pytest.mark.slow),
        pytest.param(False, id="not-isolated", marks=pytest.mark.release),
    ],
)
def test_pip_install_beside_torch(root, tmp_path, isolation):
    environment = Environment(tmp_path / "venv")
    environment.add("torch", "numpy")
    if isolation:
        options = []
    else:
        environment.add("scikit-build-core", "nanobind")
        options = ["--no-build-isolation"]
    before = environment.versions()

    environment.pip_install(*options, root)

    after = environment.versions()
    assert {name for name in after - before if not name.startswith("nanscope @")} == set()
    assert before <= after
    assert (environment.packages / "torch").is_symlink()
    check_installed(environment, tmp_path)


def test_libraries_that_the_compiler_lacks_are_asked_of_pip(root, monkeypatch):
    monkeypatch.syspath_prepend(root / "scripts")
    monkeypatch.chdir(root)
    import build_backend

    assert build_backend.is_there("vector")
    assert not build_backend.is_there("no/such/header.h")
    monkeypatch.setenv("CXX", "c++ -nostdinc")
    asked = set(build_backend.get_requires_for_build_wheel())
    assert asked >= {"cmeel-fmt==12.2.0", "nlohmann-json==3.12.0", "cmeel-zlib==1.3.2"}
    monkeypatch.setenv("CXX", "no-such-compiler")  # CMake says so, better than pip can
    assert set(build_backend.get_requires_for_build_wheel()).isdisjoint(
        build_backend.LIBRARIES.values()
    )


def test_the_folder_of_all_header_sets_stands_for_each_of_them(root, tmp_path):
    """A torch of each minor; the oldest is refused by its own version."""
    for minor in ("2.6", "2.15"):
        (tmp_path / minor / "torch").mkdir(parents=True)
        (tmp_path / minor / "torch" / "version.py").write_text(f"__version__ = '{minor}.0'\n")
    said = configure(root, tmp_path / "build", f"-DNANSCOPE_TORCH_DIR={tmp_path}")
    assert "this is torch 2.6.0" in said


def configure(root: Path, build: Path, *options: str, **variables: str) -> str:
    """What CMake says when it refuses."""
    outcome = run(
        *("cmake", "-S", root, "-B", build, "-G", "Ninja"),
        *(f"-DPython_EXECUTABLE={sys.executable}", *options),
        env={**os.environ, **variables},
    )
    assert outcome.returncode != 0
    return outcome.stdout


def test_only_the_tests_need_the_packages_of_tests(root, tmp_path):
    """`make build` and `make demo` configure where GoogleTest and the benchmark are missing."""
    missing = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("GTest", "benchmark")]
    command = ["cmake", "--preset", "dev", "-S", root, "-B", tmp_path / "build", *missing]
    done = run(*command, f"-DPython_EXECUTABLE={sys.executable}")
    assert done.returncode == 0, done.stdout
    said = run("cmake", "-DNANSCOPE_TESTS=ON", tmp_path / "build").stdout
    assert "nanscope needs GTest to build: apt-get install libgmock-dev\n" in said


def test_another_torch_is_refused_in_one_sentence(root, tmp_path):
    torch = tmp_path / "torch"
    torch.mkdir()
    (torch / "version.py").write_text("__version__ = '2.6.0+cpu'\n")

    said = configure(root, tmp_path / "build", NANSCOPE_TORCH_DIR=str(torch))

    assert (
        "nanscope needs torch 2.7 to 2.15 in the environment it is installed into, "
        "this is torch 2.6.0+cpu: pip install torch==2.15.0\n"
    ) in said


def test_no_torch_is_refused_in_one_sentence(root, tmp_path):
    said = configure(root, tmp_path / "build", NANSCOPE_TORCH_DIR=str(tmp_path / "nothing"))

    assert (
        "nanscope needs torch 2.7 to 2.15 in the environment it is installed into: "
        "pip install torch==2.15.0\n"
    ) in said


def test_another_processor_is_refused_in_one_sentence(root, tmp_path):
    said = configure(
        root, tmp_path / "build", "-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=aarch64"
    )

    assert "nanscope needs Linux on x86-64, this is Linux on aarch64.\n" in said


def test_the_tools_own_sentences(monkeypatch):
    assert support.platform_problem() is None
    here = support.minor_of(importlib.metadata.version("torch"))
    assert support.torch_problem(f"{here}.0+cpu") is None
    assert support.torch_problem(f"{here}.1") is None
    assert support.torch_problem("2.130.0") is not None
    assert (
        support.torch_problem("2.6.0") == "nanscope watches torch 2.7 to 2.15; this is torch 2.6.0:"
        " pip install torch==2.15.0"
    )
    monkeypatch.setattr(support, "adapters", lambda: ["2.9", "2.13"])
    assert support.torch_problem("2.13.0") is None
    assert support.torch_problem("2.12.1") == (
        "this nanscope has adapters for torch 2.9 and 2.13; this is torch 2.12.1: install nanscope "
        "again beside this torch (from source that needs g++), or pip install torch==2.13.0"
    )
    monkeypatch.setattr(sys, "abiflags", "t")
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert support.platform_problem() == (
        f"nanscope needs the GIL; this is a free-threaded cpython {version}: "
        "use the ordinary build."
    )
    for other, why in (
        ((3, 10), ", which keeps no columns of expressions"),
        ((3, 14), ", which has not been tried yet"),
        ((3, 15), ""),
    ):
        monkeypatch.setattr(sys, "version_info", (*other, 1, "final", 0))
        assert support.platform_problem() == (
            f"nanscope runs on CPython 3.11 to 3.13; this is cpython 3.{other[1]}{why}."
        )


def test_the_adapter_is_that_of_the_torch_that_is_there():
    import torch

    from nanscope import _torch

    assert _torch.__name__ == "nanscope." + support.adapter_of(torch.__version__)
    assert support.minor_of(torch.__version__) in support.adapters()


def test_an_adapter_that_is_not_there_is_named_in_one_sentence(tmp_path):
    """A torch without its adapter: the program runs on unwatched, and the sentence says why."""
    installed = Path(support.__file__).parent
    package = tmp_path / "nanscope"
    package.mkdir()
    for file in installed.iterdir():
        if not file.name.startswith("_torch_2"):
            (package / file.name).symlink_to(file)
    (package / "_torch_2_7.so").write_text("for another torch")

    outcome = run(sys.executable, "-m", "nanscope", "doctor", cwd=tmp_path)

    assert outcome.returncode == 1
    assert "not watched: this nanscope has adapters for torch 2.7; this is torch" in outcome.stdout


def test_a_package_that_cannot_start_says_so(root, tmp_path):
    """The Python files without the shared library: as on a platform it was not built for."""
    package = tmp_path / "nanscope"
    package.mkdir()
    for file in (root / "python/nanscope").glob("*.py"):
        (package / file.name).write_text(file.read_text())

    outcome = run(sys.executable, "-m", "nanscope", "--version", cwd=tmp_path)

    assert outcome.returncode == 125
    assert outcome.stdout.count("\n") == 1
    assert "shared library" in outcome.stdout
