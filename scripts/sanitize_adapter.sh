#!/bin/bash
# sanitize_adapter.sh: the Python modules under ThreadSanitizer, while six threads train at once.
#
# Torch, Python and OpenMP are not built for it: what they do among themselves is suppressed
# (thread_suppressions.txt). A report that names a file of ours is a failure.
set -eu
cd "$(dirname "$0")/.."
tree=build/adapter-thread-sanitize
[ -e $tree/build.ninja ] || cmake --preset adapter-thread-sanitize
flock build/.adapter-thread-sanitize.lock cmake --build --preset adapter-thread-sanitize

# The package as it would be installed, with these modules.
package=$PWD/$tree/package
rm -rf "$package"
mkdir -p "$package"
cp -r .venv/lib/python3*/site-packages/nanscope "$package/"
cp -f $tree/*.so "$package/nanscope/"

reports=$PWD/$tree/reports
rm -rf "$reports"
mkdir "$reports"
export LD_PRELOAD=$(g++ -print-file-name=libtsan.so) PYTHONPATH=$package OMP_NUM_THREADS=1
export TSAN_OPTIONS="suppressions=$PWD/scripts/thread_suppressions.txt exitcode=0 \
log_path=$reports/report history_size=4"
for words in "" "fault"; do
  echo "six threads train under ThreadSanitizer${words:+, one with a fault}"
  # setarch: the sanitizer's shadow needs addresses that randomisation may take.
  setarch -R .venv/bin/python tests/watch/threads/six_threads.py watch steps=30 $words \
    > "$reports/out" 2> "$reports/err" || [ -n "$words" ]
  grep -q "all have ended" "$reports/out" || [ -n "$words" ] || { cat "$reports/err"; exit 1; }
done
if grep -lE "#[0-9]+ .*/(adapters|src)/[a-z]" "$reports"/report.* 2>/dev/null; then
  sed -n 1,80p "$(grep -lE '#[0-9]+ .*/(adapters|src)/[a-z]' "$reports"/report.* | head -n 1)"
  echo "ThreadSanitizer names code of ours: see $reports" >&2
  exit 1
fi
echo "no report names code of ours"
