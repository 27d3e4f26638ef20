#!/bin/bash
# build.sh [TARGET...]: builds the package into build/ and installs it into .venv, as `pip install .` would
# elsewhere. Targets of CMake that a caller needs besides (unit tests, the benchmark) are built with it;
# the first such caller has them declared in build/, where all else stays as it is.
#
# CMake comes first, for its clear messages; pip then packs the same build tree, which takes two
# seconds and is left out when nothing that is installed has changed.
set -eu
cd "$(dirname "$0")/.."
installed=.venv/.installed

exec 9>build/.build.lock
flock 9

[ -e build/build.ninja ] || cmake --preset dev
[ $# = 0 ] || grep -q '^NANSCOPE_TESTS:BOOL=ON$' build/CMakeCache.txt || cmake -DNANSCOPE_TESTS=ON build
# The page: node may have come since, or npm may reach its packages now.
[ ! -e build/_web/report.html ] || [ -s build/_web/report.html ] || rm build/_web/report.html
[ -e build/_web/report.html ] || ! command -v npm >/dev/null || cmake build >/dev/null
cmake --build build --target nanscope_package "$@"

# Folders are compared too: a file that was removed is noticed by its folder's time.
changed=$(find build/*.so build/_web python adapters/torch/ops/*.py pyproject.toml CMakeLists.txt docs/causes \
  -name __pycache__ -prune -o -newer "$installed" -print -quit 2>/dev/null || true)
if [ ! -e "$installed" ] || [ ! -x .venv/bin/nanscope ] || [ -n "$changed" ]; then
  touch build/.started
  .venv/bin/python -m pip install --quiet --disable-pip-version-check \
    --no-build-isolation --no-deps --no-index --config-settings=build-dir=build .
  mv build/.started "$installed"
fi
