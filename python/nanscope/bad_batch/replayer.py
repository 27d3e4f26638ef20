"""In the program that `nanscope replay` has started: puts the kept step in place of its own first,
and judges whether the same finding came of it.
"""

from __future__ import annotations

import os

from nanscope import _core
from nanscope.bad_batch import state
from nanscope.bad_batch.folder import STEP, Refused, read_about
from nanscope.bad_batch.keeper import Unwatched
from nanscope.bad_batch.training import Training
from nanscope.findings import Report
from nanscope.run.ending import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

THE_SAME, ANOTHER = 3, 4
NOT_MET = "the kept step was not met: {}"
NEVER = "the program ended before a batch of the same loader, its models and optimizers were there"


class Replayer:
    """In the program: puts the kept step in place once, and judges what came of it."""

    def __init__(self, folder: str, adapter: ModuleType) -> None:
        self.folder = folder
        self.adapter = adapter
        self.about = read_about(folder)
        self.kept = state_in(folder)
        self.training = Training(self.batch_given, self.step_ended)
        self.placed = False
        self.began = False  # the program computes with it
        self.steps_left = 2 * max(1, len(self.kept["optimizers"]))
        self.problem = NEVER

    def connect(self, torch: ModuleType) -> None:
        from torch.nn.modules import module as modules

        self.training.connect(torch)
        self.hook = modules.register_module_forward_pre_hook(self.forward_begins)

    # ------------------------------------------------------------------------------ the moments
    def batch_given(self, loader: int, batch: object) -> object:
        if self.placed:
            if not self.began:  # a loader that is ahead draws random numbers, too
                self.put(lambda: state.put_back_random(self.kept["random"]))
            return batch
        if self.about.get("batch") is None or loader != self.about.get("loader"):
            return batch
        return self.put(lambda: self.place(batch), batch)

    def forward_begins(self, *_: object) -> None:
        if self.about.get("batch") is None and not self.placed:
            self.put(lambda: self.place(None))
        if self.placed and not self.began:
            self.began = True
            self.hook.remove()

    def step_ended(self) -> None:
        """The finding comes in the placed step, or in the one that uses what it spoilt."""
        if not self.placed or self.adapter.error_found():
            return
        self.began = True
        self.steps_left -= 1
        if self.steps_left <= 0:
            from nanscope.errors import Stop

            raise Stop("the kept step has passed")

    def place(self, batch: object) -> object:
        batch = state.in_place_of(batch, self.kept["batch"]) if batch is not None else None
        state.put_back(self.training, self.kept)
        state.put_back_random(self.kept["random"])
        self.placed = True
        return batch

    def put(self, action: Callable[[], object], otherwise: object = None) -> object:
        """What does not fit yet may fit at the next batch: models are made one after another."""
        with Unwatched(self.adapter):
            try:
                return action()
            except state.Differs as why:
                self.problem = str(why)
            except Exception as error:
                self.problem = f"{type(error).__name__}: {error}"
        return otherwise

    # --------------------------------------------------------------------------------- the end
    def conclude(self, capture: _core.Capture) -> int:
        found = Report.of(capture).first_error
        if not self.placed:
            say(f"nanscope replay: {NOT_MET.format(self.problem)}.")
            return ANOTHER
        if found is None:
            say(f"nanscope replay: not met again: {self.about['headline']}.")
            return ANOTHER
        origin, kept = found.origin, self.about["site"]
        same = (
            origin.op == self.about["op"]
            and found.cause.id == self.about["cause"]
            and (origin.site.line, origin.site.col) == (kept.get("line"), kept.get("col"))
            and os.path.basename(origin.site.file) == os.path.basename(kept["file"])
        )
        if not same:
            say(f"nanscope replay: another finding than the kept {self.about['headline']}.")
            return ANOTHER
        say(f"nanscope replay: the same finding as in {os.path.relpath(self.folder)}.")
        return THE_SAME


def state_in(folder: str) -> dict:
    """Read by torch itself without running anything that stands in it."""
    import torch

    path = os.path.join(folder, STEP)
    try:
        kept = torch.load(path, weights_only=True, map_location="cpu")
    except Exception as error:
        raise Refused(f"{path} cannot be read: {str(error).splitlines()[0]}") from None
    parts = {**dict.fromkeys(state.PARTS, list), "random": dict}
    if not isinstance(kept, dict) or not all(
        isinstance(kept.get(name), kind) for name, kind in parts.items()
    ):
        raise Refused(f"{path} is damaged.")
    return kept
