#!/bin/bash
# Runs examples/vae.py under nanscope. The program has a bug, so nanscope's exit status is 3: an error
# was found. Anything else fails. The capture stays in build/, for `nanscope show`.
set -eu
cd "$(dirname "$0")/.."

status=0
(set -x; .venv/bin/nanscope run -f -o build/demo.nsc examples/vae.py) || status=$?
if [ "$status" != 3 ]; then
  echo "The demo should end with exit status 3 (an error was found); it ended with $status." >&2
  exit 1
fi
