#!/bin/bash
# What the tests of the page and of the report formats need besides setup.sh: Chromium, the packages of
# tests/web/package-lock.json (in build/web-tests) and of requirements-web.txt (in .venv/web).
#
# Stamps are left only when all is done, as in setup.sh. Where npm and pip look is this machine's own
# setting.
set -eu
cd "$(dirname "$0")/.."
python=.venv/bin/python
packages=build/web-tests
say() { echo "$@" >&2; }

command -v chromium >/dev/null || scripts/system_packages.sh chromium fonts-dejavu-core

mkdir -p build
exec 9>build/.setup.lock
flock 9

if ! cmp -s tests/web/package-lock.json "$packages/.done"; then
  say "Installing tests/web/package.json into $packages"
  mkdir -p "$packages"
  cp tests/web/package.json tests/web/package-lock.json "$packages"
  npm ci --prefix "$packages" --ignore-scripts --no-audit --no-fund --loglevel=error >&2
  cp "$packages/package-lock.json" "$packages/.done"
fi

requirements=scripts/requirements-web.txt
if ! cmp -s "$requirements" .venv/web/.done; then
  say "Installing $requirements into .venv/web"
  rm -rf .venv/web
  "$python" -m pip install --quiet --disable-pip-version-check --no-deps --target .venv/web -r "$requirements"
  cp "$requirements" .venv/web/.done
fi
