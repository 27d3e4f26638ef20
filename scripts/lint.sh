#!/bin/bash
# Form and a short list of likely mistakes. All of it runs; the status says whether all of it passed.
set -u
cd "$(dirname "$0")/.."
scripts/system_packages.sh clang-format-14 clang-tidy-14 || exit 1
status=0

echo "include rule"
.venv/bin/python scripts/check_includes.py || status=1

echo "clang-format"
find src adapters bench tests \( -name '*.h' -o -name '*.cc' \) -print0 |
  xargs -0 clang-format-14 --dry-run -Werror || status=1

echo "ruff"
.venv/bin/ruff check --quiet . || status=1

# Only the core without its tests: torch's headers would take minutes. The compiler's own warnings are
# checked here too. A file that passed is looked at again when it or any header has changed.
echo "clang-tidy"
mkdir -p build/tidy
newest=$(find src .clang-tidy \( -name '*.h' -o -name .clang-tidy \) -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2-)
tidy() {
  local passed=build/tidy/${1//\//.}
  [ "$passed" -nt "$1" ] && [ "$passed" -nt "$newest" ] && return
  clang-tidy-14 --quiet -p build "$1" 2> >(grep -v 'warnings\? generated' >&2) && touch "$passed"
}
export -f tidy
export newest
find src -name '*.cc' ! -name '*_test.cc' -print0 |
  xargs -0 -n 1 -P "$(nproc)" bash -c 'tidy "$1"' tidy || status=1
exit $status
