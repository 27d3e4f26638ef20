#!/bin/bash
# setup.sh [dev]: what a build needs: system packages, .venv, torch, pinned Python packages. With `dev`
# also what tests and lint need.
#
# Each stage leaves a stamp in .venv only when it is done, so that a second call is quick and an
# interrupted one goes on where it stopped. Where pip looks is this machine's own setting.
#
# TORCH=2.15.0 puts another torch into .venv, in place of the one that is there.
set -eu
cd "$(dirname "$0")/.."
torch=torch==${TORCH:-2.13.0}
python=.venv/bin/python
say() { echo "$@" >&2; }

scripts/system_packages.sh g++ cmake ninja-build make libfmt-dev nlohmann-json3-dev zlib1g-dev

# The page is built where node is; the tests look at it.
[ "${1-}" != dev ] || command -v npm >/dev/null || scripts/system_packages.sh nodejs npm

mkdir -p build
exec 9>build/.setup.lock
flock 9

is_supported='import sys, sysconfig
sys.path.insert(0, "python/nanscope")
import support
sys.exit("%d.%d" % sys.version_info[:2] not in support.PYTHON or support.is_free_threaded())'

find_python() {
  for candidate in python3.11 /usr/bin/python3.11 "$HOME"/.pyenv/versions/3.11.*/bin/python3 python3 \
    python3.12 python3.13 "$HOME"/.pyenv/versions/3.1[23].*/bin/python3; do
    if "$candidate" -B -c "$is_supported" 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  say "nanscope needs CPython 3.11, 3.12 or 3.13: put it on PATH as python3.11 or python3."
  return 1
}

venv_works() {
  "$python" -B -c "$is_supported" 2>/dev/null &&
    "$python" -m pip --version >/dev/null 2>&1
}

if [ ! -e .venv/.made ] || [ ! -x "$python" ]; then
  base=$(find_python)
  # Debian keeps the two apart from the interpreter; other builds of Python have them.
  "$base" -c 'import ensurepip' 2>/dev/null || scripts/system_packages.sh python3-venv
  "$base" -c 'import os, sysconfig, sys
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' ||
    scripts/system_packages.sh python3-dev
  if ! venv_works; then
    say "Making .venv"
    "$base" -m venv --clear .venv
  fi
  touch .venv/.made
fi

# An install that was cut off can look complete to pip: what it left is tried, and replaced if it fails.
there=$(cat .venv/.torch 2>/dev/null || true)
[ ! -e .venv/.torch ] || : "${there:=torch==2.13.0}"
if [ "$there" != "$torch" ]; then
  rm -f .venv/.torch
  say "Installing $torch into .venv"
  "$python" -m pip install --quiet --disable-pip-version-check "$torch"
  "$python" -c 'import torch' 2>/dev/null ||
    "$python" -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps "$torch"
  echo "$torch" >.venv/.torch
fi

# install NAME MODULES: the packages of requirements-NAME.txt, which can be imported then.
install() {
  local requirements=scripts/requirements-$1.txt stamp=.venv/.packages-$1
  ! cmp -s "$requirements" "$stamp" || return 0
  say "Installing $requirements into .venv"
  "$python" -m pip install --quiet --disable-pip-version-check -r "$requirements"
  "$python" -c "import $2" 2>/dev/null ||
    "$python" -m pip install --quiet --disable-pip-version-check --force-reinstall -r "$requirements"
  cp "$requirements" "$stamp.new"
  mv "$stamp.new" "$stamp"
}
install build "libcst, nanobind, numpy, scikit_build_core"
[ "${1-}" != dev ] || install dev "expecttest, hypothesis, jsonschema, pytest, scipy, xdist"
