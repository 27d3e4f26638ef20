"""The pytest plugin: `pytest --nanscope`, or `nanscope = true` in pytest's ini file.

Each test is watched from its fixtures to its end, which is the end of the program for the verdict.
What was found is told in a section of its own at the end and fails no test by itself:

    @pytest.mark.finite                             fails with the finding if a NaN or Inf did harm
    @pytest.mark.expect_nonfinite("log_of_zero")    fails unless that cause was met; without an
                                                    argument, unless any was

Where it is not switched on, the markers do nothing and torch is not imported.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nanscope.api.watch import WatchBlock
    from nanscope.findings import Finding

MARKERS = (
    "finite: fails if a NaN or Inf did harm in the test (with --nanscope)",
    "expect_nonfinite(cause): fails unless a NaN or Inf was met for this cause (with --nanscope)",
)
NOT_MET = "nanscope: expected {}, but {}."


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("nanscope")
    text = "watch every test and say which operation made the first harmful NaN or Inf"
    group.addoption("--nanscope", action="store_true", help=text)
    parser.addini("nanscope", type="bool", default=False, help=text)


def pytest_configure(config: pytest.Config) -> None:
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    if config.getoption("--nanscope") or config.getini("nanscope"):
        config.pluginmanager.register(WatchedTests(), "nanscope-watched-tests")


class WatchedTests:
    """Watches the tests of this process; shows what was found in all of them."""

    def __init__(self) -> None:
        self.watched: list[dict[str, str]] = []  # a dict of plain strings for each phase of a test

    # -------------------------------------------------------------------- where the tests run
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        if runs_tests_elsewhere(session.config):
            return
        problem = problem_here()
        if problem is not None:
            raise pytest.UsageError(problem)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            for mark in item.iter_markers("expect_nonfinite"):
                problem = problem_of_cause(mark.args)
                if problem is not None:
                    raise pytest.UsageError(f"{item.nodeid}: {problem}")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, Any, Any]:
        item.stash[MET] = []
        with self.watching(item, "setup"):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        with self.watching(item, "call"):
            result = yield
        for mark in item.iter_markers("expect_nonfinite"):
            cause = mark.args[0] if mark.args else None
            if not any(cause in (None, finding.cause.id) for finding in item.stash[MET]):
                pytest.fail(NOT_MET.format(cause or "a NaN or Inf", met(item)), pytrace=False)
        return result

    @contextmanager
    def watching(self, item: pytest.Item, phase: str) -> Iterator[None]:
        """One phase of a test as a watched block; its report goes with the phase's own."""
        from nanscope.api.watch import WatchBlock

        block = WatchBlock(on_find=lambda finding: None)
        try:
            with block:
                yield
        except BaseException as error:
            self.keep(item, phase, block)
            if block.finding is not None and item.get_closest_marker("finite"):
                error.add_note(block.report)
            raise
        self.keep(item, phase, block)
        if block.finding is not None and item.get_closest_marker("finite"):
            pytest.fail(block.report, pytrace=False)

    def keep(self, item: pytest.Item, phase: str, block: WatchBlock) -> None:
        item.stash[MET] += [finding for finding in block.findings if finding.forewarning is None]
        finding = block.finding
        expected = finding is not None and item.get_closest_marker("expect_nonfinite") is not None
        item.stash.setdefault(WATCHED, {})[phase] = {
            "test": item.nodeid,
            "where": item.nodeid + (" (fixtures)" if phase == "setup" else ""),
            "verdict": "expected" if expected else block.verdict or "unknown",
            "headline": finding.headline if finding is not None else "",
            "report": block.report,
        }

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, Any, Any]:
        report = yield
        found = item.stash.get(WATCHED, {}).pop(report.when, None)
        never_ran = report.when == "setup" and report.skipped
        if found is not None and not never_ran:
            report.nanscope = found  # pytest-xdist sends it with the report
        return report

    # ---------------------------------------------------------------- where they are reported
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        found = getattr(report, "nanscope", None)
        if found is not None:
            self.watched.append(found)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("nanscope")
        by_headline: dict[str, list[dict[str, str]]] = {}
        for found in self.of("error"):
            by_headline.setdefault(found["headline"], []).append(found)
        for same in by_headline.values():  # what several tests met is told once
            for found in same:
                terminalreporter.write_line(found["where"], bold=True)
            terminalreporter.write_line(same[0]["report"])
        for found in self.of("unknown"):
            terminalreporter.write_line(f"{found['where']}: {found['report'].splitlines()[0]}")
        terminalreporter.write_line(self.summary())

    def of(self, verdict: str) -> list[dict[str, str]]:
        return [found for found in self.watched if found["verdict"] == verdict]

    def summary(self) -> str:
        def tests(some: list[dict[str, str]]) -> int:
            return len({found["test"] for found in some})

        text = f"{tests(self.watched)} tests watched; in {tests(self.of('error'))} "
        text += "a NaN or Inf did harm"
        if self.of("expected"):
            text += f", in {tests(self.of('expected'))} as expected"
        if self.of("unknown"):
            text += f"; {tests(self.of('unknown'))} not fully watched"
        return text + "."


MET = pytest.StashKey[list["Finding"]]()
WATCHED = pytest.StashKey[dict[str, dict[str, str]]]()


def met(item: pytest.Item) -> str:
    """What a test met instead of what it expected."""
    causes = sorted({finding.cause.id for finding in item.stash[MET]})
    return f"met {', '.join(causes)}" if causes else "none was met"


def runs_tests_elsewhere(config: pytest.Config) -> bool:
    """The process that commands the workers of pytest-xdist runs no test itself."""
    return bool(getattr(config.option, "dist", "no") != "no" and not hasattr(config, "workerinput"))


def problem_here() -> str | None:
    """Why tests cannot be watched in this process, as a sentence."""
    try:
        import torch
    except ImportError:
        return "--nanscope watches PyTorch, and torch is not installed here."
    from nanscope.moments import attach

    run = sys.modules.get("nanscope.run.process")
    if run is not None and run.begun:
        return "--nanscope and `nanscope run` are one too many: leave one out."
    adapter = attach.load(torch)
    return adapter if isinstance(adapter, str) else None


def problem_of_cause(arguments: tuple) -> str | None:
    from nanscope import _core

    if not arguments:
        return None
    command = ["nanscope", "explain", str(arguments[0])]
    outcome = _core.command_line(command, _core.Terminal())
    return outcome.err.decode().strip() if outcome.status else None
