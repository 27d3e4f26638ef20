#!/bin/bash
# The packages that tests/packages is written with, beside .venv's own and out of their sight.
# `setup_packages.sh trackers` and `... nvrtc`: those of requirements-trackers.txt and -nvrtc.txt, beside them, for release tests.
#
# They go into .venv/packages, which only those programs have on their path: what nanscope is built and
# tested with stays what the other requirements say. Torch is never among them, nor replaced: that is
# checked. A stamp is left only when all is done, as in setup.sh.
set -eu
cd "$(dirname "$0")/.."
torch=${TORCH:-2.13.0}
which=${1:-packages}
requirements=scripts/requirements-$which.txt
python=.venv/bin/python
folder=.venv/$which
beside=()
[ "$which" = packages ] || beside=(--no-deps)  # what they share is in .venv/packages
say() { echo "$@" >&2; }

mkdir -p build
exec 9>build/.setup.lock
flock 9

[ -e "$folder/.done" ] && cmp -s "$requirements" "$folder/.done" && exit 0

say "Installing $requirements into $folder"
rm -rf "$folder"
"$python" -m pip install --quiet --disable-pip-version-check --prefix "$folder" "${beside[@]}" \
  -c <(echo "torch==$torch") \
  -c scripts/requirements-build.txt -c scripts/requirements-dev.txt -r "$requirements"

# Neither a second torch, nor another, nor anything that would hide one of .venv's own packages.
site=$(echo "$folder"/lib/python3*/site-packages)
twice=$("$python" - "$site" <<'END'
import sys, sysconfig
from importlib.metadata import distributions

def names(folder):
    return {found.metadata["Name"].lower().replace("_", "-") for found in distributions(path=[folder])}

print(*sorted(names(sys.argv[1]) & (names(sysconfig.get_path("platlib")) | {"torch"})))
END
)
if [ -n "$twice" ]; then
  say "$requirements brought what .venv has: $twice. Nothing here may replace it."
  exit 1
fi
PYTHONPATH=$site "$python" -c "import sys, torch
found = torch.__version__.split('+')[0]
sys.exit(found != '$torch' and f'torch is {found}, not $torch; remove .venv and run make setup.')"

cp "$requirements" "$folder/.done.new"
mv "$folder/.done.new" "$folder/.done"
