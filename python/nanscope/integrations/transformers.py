"""The Trainer of transformers, and those of TRL: `Trainer(..., callbacks=[NanscopeCallback()])`.

The training is watched. At the first error the trainer stops at the end of the step, as after early
stopping (`on_find="stop"`), `NonFiniteError` is raised there (`"raise"`), or it goes on
(`"go_on"`). The report names epoch, batch, global step and the batch's keys as the trainer has
them, and its page lies in the trainer's output_dir.
"""

from __future__ import annotations

import sys
from collections.abc import Sized
from typing import Any

from transformers import TrainerCallback

from nanscope.integrations.training import WatchesTraining, keys_of

TRAINER = "transformers.trainer"
FILTERED = (
    "The loss in the trainer's log does not show it: logging_nan_inf_filter is on, so that in the "
    "place of one that is nan or inf it counts the average of the steps since its last line, or 0 "
    "without any."
)


class NanscopeCallback(WatchesTraining, TrainerCallback):
    batch = 0  # of the epoch

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.training.begin(args.output_dir)
        self.training.remarks = [FILTERED] if args.logging_nan_inf_filter else []

    def on_epoch_begin(
        self, args: Any, state: Any, control: Any, train_dataloader: Any = None, **_: Any
    ) -> None:
        self.batch = batches_done(state.epoch or 0, train_dataloader)

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.count(args, state)

    def on_substep_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.batch += 1
        self.count(args, state)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        # Until the next begins: what is met now, in an evaluation, is of no batch of the training.
        self.training.goes_on(
            {
                "epoch": round(state.epoch or 0, 2),
                "after batch": self.batch,
                "global step": state.global_step,
            }
        )
        self.batch += 1
        if self.training.wants_to_stop:
            control.should_training_stop = True

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.training.end()

    def count(self, args: Any, state: Any) -> None:
        now = {
            "epoch": round(state.epoch or 0, 2),
            "batch": self.batch,
            "global step": state.global_step,
        }
        if args.gradient_accumulation_steps > 1:
            now["batches a step"] = args.gradient_accumulation_steps
        self.training.goes_on(now)

    def batch_here(self) -> dict[str, object]:
        """The trainer does not hand it to callbacks: its own frames hold it, as `inputs`."""
        frame = sys._getframe(1)
        while frame is not None:
            if frame.f_globals.get("__name__") == TRAINER and "inputs" in frame.f_locals:
                return {"batch of": keys_of(frame.f_locals["inputs"])}
            frame = frame.f_back
        return {}


def batches_done(epoch: float, loader: Any) -> int:
    """Counts what is done of this epoch: more than none where a training is resumed."""
    length = len(loader) if isinstance(loader, Sized) else 0
    return round(epoch % 1 * length) % length if length else 0
