# The door: what one can do here. `make help` prints it.
#
# Every target does what it needs first; a second call takes about a second.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help setup setup-build setup-unit build demo unit test test-slow test-release bench bench-instructions bench-long lint sanitize \
	sanitize-threads sanitize-adapter fuzz fuzz-programs wheels test-matrix check-versions clean

python := .venv/bin/python
PYTEST_ARGS ?=
GTEST_ARGS ?= --gtest_brief=1
FUZZ_SECONDS ?= 60
ONLY ?=
SECONDS := 3600

help: ## print this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## system packages, .venv with torch 2.13 (TORCH=2.15.0: another) and the pinned Python packages
	@scripts/setup.sh dev

setup-build:
	@scripts/setup.sh

setup-unit: setup-build
	@scripts/system_packages.sh libgtest-dev libgmock-dev libbenchmark-dev

build: setup-build ## build into build/, install into .venv: .venv/bin/nanscope is the tool
	@scripts/build.sh

demo: build ## a small VAE trains until a realistic bug bites; nanscope says where and why
	@scripts/demo.sh

unit: setup-unit ## the unit tests beside the code (GTEST_ARGS="--gtest_filter=Ledger*")
	@scripts/build.sh nanscope_tests nanscope_adapter_tests nanscope-reader
	build/nanscope_tests $(GTEST_ARGS)
	build/nanscope_adapter_tests $(GTEST_ARGS)

test: setup unit ## unit tests, then the tests that cross a boundary (PYTEST_ARGS="-k name")
	@scripts/setup_packages.sh
	@scripts/setup_web.sh
	$(python) -m pytest -n 2 --dist worksteal -m "not slow and not release" $(PYTEST_ARGS)

test-slow: setup build ## the tests that take minutes: every op, whole builds, other packages
	@scripts/setup_packages.sh
	$(python) -m pytest -n 2 --dist worksteal -m slow $(PYTEST_ARGS)

test-release: setup build ## before a release: every program in mode sentinel, fuzzing for minutes, ...
	@scripts/setup_packages.sh
	@scripts/setup_packages.sh trackers
	@scripts/setup_packages.sh nvrtc
	$(python) -m pytest -n 2 --dist worksteal -m release $(PYTEST_ARGS)
	@scripts/sanitize_adapter.sh
	@scripts/fuzz.sh 300

bench: setup setup-unit ## scan speed, overhead beside its rivals; writes docs/overhead.* and README's table
	@scripts/build.sh scan_bench
	@scripts/system_packages.sh valgrind
	@scripts/setup_packages.sh
	@mkdir -p build/bench
	build/scan_bench | tee build/bench/scan.txt
	$(python) bench/check.py --largest 1000000
	$(python) bench/overhead.py --json build/bench/overhead.json
	$(python) bench/split.py --json build/bench/split.json
	$(python) bench/instructions.py --json build/bench/instructions.json
	$(python) bench/costs.py --json build/bench/costs.json
	$(python) bench/sentinel.py --json build/bench/sentinel.json
	$(python) bench/compiled.py --json build/bench/compiled.json
	$(python) bench/scan_checkpoints.py --json build/bench/checkpoints.json
	@scripts/setup_web.sh
	$(python) bench/page.py --json build/bench/pages.json
	$(python) bench/publish.py --from build/bench

bench-instructions: setup ## instructions of each step, plain and watched: repeatable on a busy machine (ONLY=word)
	@scripts/system_packages.sh valgrind
	@scripts/setup_packages.sh
	@mkdir -p build/bench
	$(python) bench/instructions.py --only "$(ONLY)" --json build/bench/instructions.json

bench-long: build ## 100,000 steps, 10 million ops: is it flat?
	@mkdir -p build/bench
	.venv/bin/nanscope run bench/memory.py 100000 1 2>&1 | tee build/bench/long_run.txt

lint: setup build ## clang-format, clang-tidy, ruff, the include rule
	@scripts/lint.sh

sanitize: setup-unit sanitize-threads ## the core and its unit tests under ASan and UBSan
	@[ -e build/sanitize/build.ninja ] || cmake --preset sanitize
	@flock build/.sanitize.lock cmake --build --preset sanitize
	build/sanitize/nanscope_tests --gtest_brief=1

sanitize-threads: setup-unit ## the judge and the ledger, driven by threads, under TSan
	@[ -e build/thread-sanitize/build.ninja ] || cmake --preset thread-sanitize
	@flock build/.thread-sanitize.lock cmake --build --preset thread-sanitize
	build/thread-sanitize/nanscope_thread_tests --gtest_brief=1

sanitize-adapter: setup build ## the Python modules under TSan while six threads train; minutes of building
	@scripts/sanitize_adapter.sh

fuzz-programs: setup build ## random programs, plain and watched, for SECONDS (3600)
	$(python) tests/watch/program_fuzzer.py --seconds $(SECONDS)

fuzz: setup-build ## every fuzz target for FUZZ_SECONDS (60)
	@scripts/fuzz.sh $(FUZZ_SECONDS)

wheels: setup-build ## dist/: one wheel per Python found, adapters for every torch; fetches 7 GB of wheels
	@nice python3 scripts/versions/wheels.py

test-matrix: setup-build ## other torches and Pythons, one cell after another (CELL=2.15-3.12); by hand
	@nice python3 scripts/versions/matrix.py

check-versions: ## our tables of ops against the ops of every torch (TORCHES="2.13 2.15")
	@nice python3 scripts/versions/check_versions.py

clean: ## remove build/; .venv stays
	rm -rf build
