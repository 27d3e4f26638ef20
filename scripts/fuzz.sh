#!/bin/bash
# fuzz.sh SECONDS: runs each target of tests/fuzz that long. Seeds come from tests/fuzz/<target>/ if
# there is such a folder; what the fuzzer finds is kept in build/fuzz.
set -eu
cd "$(dirname "$0")/.."
scripts/system_packages.sh clang-14 libclang-rt-14-dev
[ -e build/fuzz/build.ninja ] || cmake --preset fuzz
cmake --build --preset fuzz
for source in tests/fuzz/*_fuzz.cc; do
  [ -e "$source" ] || { echo "There is no fuzz target in tests/fuzz yet."; exit 0; }
  name=$(basename "$source" .cc)
  corpus=build/fuzz/corpus/$name
  mkdir -p "$corpus"
  seeds=()
  [ ! -d "tests/fuzz/$name" ] || seeds=("tests/fuzz/$name")
  build/fuzz/"$name" -max_total_time="$1" -artifact_prefix="build/fuzz/$name-" "$corpus" "${seeds[@]}"
done
