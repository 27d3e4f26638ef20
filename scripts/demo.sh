#!/bin/bash
# Runs examples/vae.py under nanscope, in a folder of its own: a capture is left behind only there.
# The program has a bug, so nanscope's exit status is 3: an error was found. Anything else fails.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r examples "$folder/"
cd "$folder"

status=0
"$root/.venv/bin/nanscope" run examples/vae.py || status=$?
if [ "$status" != 3 ]; then
  echo "The demo should end with exit status 3 (an error was found); it ended with $status." >&2
  exit 1
fi
