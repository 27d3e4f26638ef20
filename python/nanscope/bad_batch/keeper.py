"""Keeps of the failing step what is needed to meet it again: `run --bad-batch DIR`.

The state of the training is copied before a loader looks for its next batch (without a loader,
behind every step of an optimizer), each batch when it is handed out. Which of the last batches is
that of the failing step is asked of the frames where the harm is done: a loader may be ahead.
Written when the program has ended. A fault of ours ends the keeping, and nothing else.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
from collections import deque

from nanscope.bad_batch import state
from nanscope.bad_batch.folder import ABOUT, FINDING, SCHEMA, STEP
from nanscope.bad_batch.training import Training
from nanscope.findings import Finding, Report
from nanscope.run.ending import say
from nanscope.run.progress import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, ModuleType

    from nanscope import _core
    from nanscope.outside.loaders import Batch
    from nanscope.run.settings import Settings

MOST_BATCHES = 8
NOT_SEEN = (
    "nanscope: --bad-batch: it was not seen which batch the first bad operation had; the last one "
    "is kept."
)
NO_STEP = "nanscope: --bad-batch: no batch and no step of an optimizer was seen; nothing is kept."
NO_LOADER = (
    "nanscope: --bad-batch: no batch came from a torch DataLoader: kept are models, optimizers and "
    "random numbers only."
)


class Given:
    """A batch that a loader handed out: the program's own, and a copy from before it was used."""

    def __init__(self, loader: int, number: int, batch: object, samples: Batch | None) -> None:
        self.loader = loader
        self.number = number
        self.samples = samples
        self.own = {id(tensor): tensor for tensor in state.tensors_in(batch)}
        self.copy = state.as_plain(batch)

    def is_part_of(self, tensors: list) -> bool:
        return any(id(t) in self.own or id(t._base) in self.own for t in tensors)


class Keeper:
    def __init__(self, settings: Settings, adapter: ModuleType) -> None:
        self.settings = settings
        self.adapter = adapter
        self.training = Training(self.batch_given, self.step_ended, self.fetch_begins)
        self.process = os.getpid()  # not in children
        self.problem = ""  # of ours
        self.batches: deque[Given] = deque(maxlen=MOST_BATCHES)
        self.given = 0  # batches
        self.before: dict | None = None  # the state before the step
        self.random: dict | None = None
        self.used: Given | None = None  # by the step that failed
        self.over = False  # harm is done: nothing newer is kept
        self.step = 0  # in which it was done

    def connect(self, torch: ModuleType) -> None:
        self.training.connect(torch)

    # ------------------------------------------------------------------------------ the moments
    def fetch_begins(self) -> None:
        self._attempt(self._copy_state)

    def batch_given(self, loader: int, batch: object) -> object:
        self._attempt(lambda: self._copy_batch(loader, batch))
        return batch

    def step_ended(self) -> None:
        """While the frames still show which batch it was of."""
        if os.getpid() == self.process and not self._is_over(steps_ended=1) and not self.given:
            self._attempt(self._copy_state)  # else it is time enough when the next is looked for

    def _attempt(self, copy: Callable[[], object]) -> None:
        if self.problem or os.getpid() != self.process or self._is_over():
            return
        try:
            with Unwatched(self.adapter):
                copy()
                self.random = state.random_state()
        except Exception as error:
            self.problem = f"{type(error).__name__}: {error}"

    def _copy_state(self) -> None:
        self.before = state.state_of(self.training)

    def _copy_batch(self, loader: int, batch: object) -> None:
        self.batches.append(Given(loader, self.given, batch, self.training.samples))
        self.given += 1

    def _is_over(self, steps_ended: int = 0) -> bool:
        """Harm is done, and is not undone since; it may have been done without a word to us."""
        if not self.adapter.error_found():
            self.over, self.used = False, None
        elif not self.over:
            self.harm_done(steps_ended)
        return self.over

    def harm_done(self, steps_ended: int = 0) -> None:
        """On the thread that did it, or behind it; `steps_ended` since."""
        if self.over or os.getpid() != self.process:
            return
        self.over = True
        self.step = self.adapter.current_step() - steps_ended
        frame: FrameType | None = sys._getframe(1)
        try:
            while frame is not None and self.used is None:
                self.used = self._used_in(frame)
                frame = frame.f_back
        except Exception as error:
            self.problem = f"{type(error).__name__}: {error}"

    def _used_in(self, frame: FrameType) -> Given | None:
        """The batch that a variable holds; one that holds several (a list of all) tells nothing."""
        held = []
        for value in list(frame.f_locals.values()):
            tensors = state.tensors_in(value)
            users = [given for given in self.batches if given.is_part_of(tensors)]
            held += users if len(users) == 1 else []
        return max(held, key=lambda given: given.number, default=None)

    # --------------------------------------------------------------------------------- the end
    def write(self, capture: _core.Capture) -> None:
        if self.problem:
            say(f"nanscope: --bad-batch kept nothing, a fault of its own: {self.problem}")
            return
        finding = Report.of(capture).findings[0]
        origin = finding.origin
        if origin.step != self.step:
            self.used = None  # the origin lies before: it was another batch
        used = self.used or (self.batches[-1] if self.batches else None)
        if used is None and self.before is None:
            say(NO_STEP)
            return
        if used is None:
            say(NO_LOADER)
        elif self.used is None:
            say(NOT_SEEN)
        about = {
            "schema": SCHEMA,
            "argv": self.settings.argv,
            "folder": self.settings.folder,
            "headline": finding.headline,
            "op": origin.op,
            "site": {key: origin.site[key] for key in ("file", "line", "col", "code")},
            "cause": finding.cause.id,
            "step": origin.step,
            "loader": used.loader if used else None,
            "batch": used.number if used else None,
            "batch_seen_in_use": self.used is not None,  # else it is the last that was handed out
            **blamed(finding, self.used),
        }
        kept = {
            **(self.before or {name: [] for name in state.PARTS}),
            "random": self.random,
            "batch": used.copy if used else None,
        }
        try:
            with counted(f"writing {self.settings.bad_batch}", not self.settings.quiet):
                self._write(about, kept, json.loads(capture.json()))
        except OSError as error:
            say(f"nanscope: {self.settings.bad_batch} could not be written: {error.strerror}.")

    def _write(self, about: dict, kept: dict, report: dict) -> None:
        """Into a folder beside it first: what is there is whole."""
        torch = sys.modules["torch"]
        folder = self.settings.bad_batch
        new = f"{folder}.{os.getpid()}.new"
        os.makedirs(new)
        torch.save(kept, os.path.join(new, STEP))
        for name, value in ((ABOUT, about), (FINDING, report)):
            with open(os.path.join(new, name), "w", encoding="utf-8") as file:
                json.dump(value, file, indent=1)
        if is_ours(folder):
            shutil.rmtree(folder)
        os.rename(new, folder)
        if not self.settings.quiet:
            say(f"Kept: {folder} (nanscope replay {folder})")


def is_ours(folder: str) -> bool:
    """-f replaces what was kept before, and nothing else."""
    return os.path.exists(os.path.join(folder, ABOUT))


def blamed(finding: Finding, used: Given | None) -> dict[str, list]:
    """The rows of the batch whose elements are bad, where the result has the rows of the batch; and
    the samples that they are of the dataset, where it has keys.
    """
    shapes = [facts.shape for facts in finding.outputs[:1]]
    height = shapes[0][0] if shapes and shapes[0] else None
    copies = state.tensors_in(used.copy) if used else []
    if height is None or not any(t.dim() and t.shape[0] == height for t in copies):
        return {"rows": [], "samples": []}
    rows = sorted({index[0] for index in finding.origin.indices if index})
    samples = [used.samples.sample(row, height) for row in rows] if used.samples else []
    return {"rows": rows, "samples": [sample for sample in samples if sample]}


class Unwatched:
    """What runs inside is ours. With other threads the watch stays on: theirs is not to be missed,
    and copies of ours do no harm.
    """

    def __init__(self, adapter: ModuleType) -> None:
        self.adapter = adapter
        self.was_watching = False

    def __enter__(self) -> None:
        self.was_watching = self.adapter.is_watching() and threading.active_count() == 1
        if self.was_watching:
            self.adapter.watch(False)

    def __exit__(self, *_: object) -> None:
        if self.was_watching:
            self.adapter.watch(True)
