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

# The compiler's own warnings are checked here too, and that a file includes what it needs: each is compiled
# alone, without precompiled headers. Of the adapter only the files that a change touches: torch's headers
# take half a minute each. A file that passed is looked at again when it or any header has changed.
echo "clang-tidy"
cmake --preset lint >/dev/null &&
  cmake --build build/tidy --target cause_pages abi_classes >/dev/null || exit 1
newest=$(find src adapters .clang-tidy \( -name '*.h' -o -name .clang-tidy \) -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2-)
tidy() {
  local passed=build/tidy/${1//\//.}
  [ "$passed" -nt "$1" ] && [ "$passed" -nt "$newest" ] && return
  clang-tidy-14 --quiet -p build/tidy "$1" 2> >(grep -v 'warnings\? generated' >&2) && touch "$passed"
}
export -f tidy
export newest

# Against the place where this branch left main; on main itself, against the commit before.
touched_in_adapters() {
  local base
  base=$(git merge-base HEAD main 2>/dev/null || git merge-base HEAD origin/main 2>/dev/null) || return 0
  [ "$base" != "$(git rev-parse HEAD)" ] || base=$(git rev-parse --verify --quiet HEAD~1) || return 0
  git diff --name-only --diff-filter=d "$base" -- adapters | sed -n 's/\.\(h\|cc\)$/.cc/p' | sort -u |
    while read -r file; do [[ ! -e $file || $file == *_test.cc ]] || printf '%s\0' "$file"; done
}
{
  find src -name '*.cc' ! -name '*_test.cc' -print0
  touched_in_adapters
} | xargs -0 -n 1 -P "$(nproc)" bash -c 'tidy "$1"' tidy || status=1
exit $status
