"""Lightning: `Trainer(callbacks=[NanscopeCallback()])`.

The fit is watched, sanity check and validation included. At the first error the trainer stops as
after early stopping (`on_find="stop"`), `NonFiniteError` is raised there (`"raise"`), or the fit
goes on (`"go_on"`). The report names epoch, batch and global step as the trainer counts them, and
its page lies beside the trainer's logs.
"""

from __future__ import annotations

import sys
from typing import Any

from nanscope.integrations.training import WatchesTraining, keys_of

# One package under two names, often both installed, each with a class of its own: that of the one
# which the program has imported.
if "pytorch_lightning" in sys.modules and "lightning.pytorch" not in sys.modules:
    from pytorch_lightning.callbacks import Callback
else:
    try:
        from lightning.pytorch.callbacks import Callback
    except ImportError:
        from pytorch_lightning.callbacks import Callback


class NanscopeCallback(WatchesTraining, Callback):
    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        self.training.begin(trainer.log_dir or trainer.default_root_dir)

    def on_train_batch_start(
        self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int
    ) -> None:
        # An optimizer looks at the last loss first, and then calls for that of this batch.
        self.training.before = self.training.now
        self.training.goes_on(
            {
                "epoch": trainer.current_epoch,
                "batch": batch_idx,
                "global step": trainer.global_step,
                "batch of": keys_of(batch),
            }
        )

    def on_before_backward(self, trainer: Any, pl_module: Any, loss: Any) -> None:
        self.training.before = {}

    def on_train_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        if self.training.wants_to_stop:
            trainer.should_stop = True

    def on_validation_batch_start(
        self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int, dataloader_idx: int = 0
    ) -> None:
        self.training.goes_on(
            {
                "epoch": trainer.current_epoch,
                "sanity check batch" if trainer.sanity_checking else "validation batch": batch_idx,
                "global step": trainer.global_step,
                "batch of": keys_of(batch),
            }
        )

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        if self.training.wants_to_stop:
            trainer.should_stop = True

    def on_fit_end(self, trainer: Any, pl_module: Any) -> None:
        self.training.end()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self.training.end(exception)
