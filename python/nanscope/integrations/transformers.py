"""The Trainer of transformers, and those of TRL: `Trainer(..., callbacks=[NanscopeCallback()])`.

The training is watched. At the first error the trainer stops at the end of the step, as after early
stopping (`on_find="stop"`), `NonFiniteError` is raised there (`"raise"`), or it goes on
(`"go_on"`). The report names epoch and global step as the trainer counts them, and its page lies in
the trainer's output_dir.
"""

from __future__ import annotations

from typing import Any, Literal

from transformers import TrainerCallback

from nanscope.integrations.training import OnFind, WatchedTraining

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nanscope.findings import Finding

FILTERED = (
    "The trainer's log does not show it: logging_nan_inf_filter is on, so that in place of a loss "
    "that is nan or inf it counts the average of the steps since its last line, or 0 without any."
)


class NanscopeCallback(TrainerCallback):
    def __init__(
        self, on_find: OnFind = "stop", mode: Literal["exact", "sentinel"] = "exact"
    ) -> None:
        self.training = WatchedTraining(on_find, mode)

    @property
    def finding(self) -> Finding | None:
        """The first error, once the training has ended."""
        return self.training.finding

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.training.begin(args.output_dir)
        self.training.remarks = [FILTERED] if args.logging_nan_inf_filter else []

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.count(args, state)

    def on_substep_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.count(args, state)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self.training.wants_to_stop:
            control.should_training_stop = True

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.training.end()

    def count(self, args: Any, state: Any) -> None:
        self.training.now = {
            "epoch": round(state.epoch or 0, 2),
            "global step": state.global_step,
            "batches a step": args.gradient_accumulation_steps,
        }
