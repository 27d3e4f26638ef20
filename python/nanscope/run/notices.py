"""`run --notify WHERE`: an error is told to others, too, and only to those that were named.

    https://...                a webhook: a POST of JSON
    wandb, mlflow, trackio     the run that the program has begun
    tensorboard:FOLDER         event files

Each is a file of nanscope/integrations. They are told once, when the program has ended: the report
is whole then. A tracker whose run the program ends before that, on its way out, is told at that
moment. Whatever goes wrong is a sentence on stderr and changes nothing else.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

from nanscope import _core
from nanscope.findings import Finding, Report
from nanscope.outside.stand_ins import noted
from nanscope.run.ending import say
from nanscope.run.imports import when_imported
from nanscope.run.progress import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Protocol

    from nanscope.run.observer import Observer
    from nanscope.run.settings import Settings

    class Watched(Protocol):
        """A run, or a cell of a notebook."""

        settings: Settings
        adapter: ModuleType | None
        observer: Observer


TRACKERS = ("wandb", "trackio")  # whose runs cannot be added to once they have ended


class NotNotified(Exception):
    """Why, as a sentence without its end."""


class Alert:
    """What is told. `text`: the report for a reader; `json`: that of docs/report.md."""

    def __init__(self, capture: _core.Capture, text: str = "") -> None:
        self.text = text or capture.text(False, False, 100)
        self.json = capture.json()
        self.report = Report.parse(self.json)
        self.finding: Finding | None = next(iter(self.report.findings), None)
        found = self.finding
        self.headline = found.headline if found else self.report.summary
        self.cause = found.cause.id if found else ""
        self.step = found.origin.step if found else 0


class Notices:
    """Those of one run."""

    def __init__(self, watch: Watched) -> None:
        self.watch = watch
        self.over = False
        self.places: list[str] = list(dict.fromkeys(watch.settings.notify))
        self.done: set[str] = set()
        self.undo: list[Callable[[], None]] = []

    def begin(self) -> None:
        for name in TRACKERS:
            if name in self.places:
                when_imported(name, self.follower_of(name))

    def follower_of(self, name: str) -> Callable[[ModuleType], None]:
        def follow(module: ModuleType) -> None:
            run = getattr(module, "Run", None)
            for method in ("finish", "__exit__"):
                original = getattr(run, method, None)
                if original is not None and not self.over:
                    setattr(run, method, noted(original, before=lambda *_: self.run_ends(name)))
                    self.undo.append(
                        lambda method=method, original=original: setattr(run, method, original)
                    )

        return follow

    def end(self) -> None:
        """A cell has ended: what follows is not told of."""
        self.over = True
        while self.undo:
            self.undo.pop()()

    def run_ends(self, name: str) -> None:
        """The program ends the tracker's run; if an error is known, it is told now or never."""
        watch = self.watch
        if self.over or name in self.done or watch.settings.is_child or watch.adapter is None:
            return
        record = watch.adapter.error_number(0) if watch.observer.error_found() else None
        if record is not None:
            self.tell(name, Alert(watch.adapter.capture_so_far(), record.text()))

    def tell_all(self, capture: _core.Capture, children: list[tuple[int, str]]) -> None:
        """At the end. An error that only a child has met is told as the child's."""
        if not capture.error and children:
            capture = _core.Capture.read(children[0][1])
        alert = Alert(capture)
        for place in self.places:
            if place not in self.done:
                self.tell(place, alert)

    def tell(self, place: str, alert: Alert) -> None:
        self.done.add(place)
        name = "webhook" if place.startswith("http") else place.partition(":")[0]
        try:
            sender = importlib.import_module(f"nanscope.integrations.{name}")
            with counted(f"telling {place}", not self.watch.settings.quiet):
                sender.notify(alert, place)
        except NotNotified as why:
            say(f"nanscope: {place} was not told: {why}.")
        except Exception as error:
            say(f"nanscope: {place} was not told: {type(error).__name__}: {error}")
