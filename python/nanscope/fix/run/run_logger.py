"""In a child: losses, steps and warnings of one run, and where the first error was among them."""

from __future__ import annotations

import math
import os
import sys

from nanscope import _core
from nanscope.errors import Stop
from nanscope.fix.run.probe import Aside, unwatched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

MOST_LOSSES = 1_000_000
STEPS_DONE = "the steps that were asked for are done"


class Recorder:
    """Counts what a run does, with the watch on or off."""

    def __init__(self, steps_after: int, last_step: int | None, stop_at_error: bool) -> None:
        self.steps_after = steps_after
        self.last_step = last_step  # stop when so many are done
        self.stop_at_error = stop_at_error
        self.losses: list[float | None] = []
        self.loss_steps: list[int] = []  # steps that were done before each
        self.steps = 0
        self.without_gradient: list[int] = []  # steps whose gradients were all zero
        self.losses_at_error: int | None = None
        self.step_of_error: int | None = None
        self.reached_limit = False
        self.adapter: ModuleType | None = None
        self._has_optimizer = False

    def attach(self, torch: ModuleType, adapter: ModuleType) -> None:
        self.adapter = adapter
        run = _core.Around(adapter.run_backward, before=self._backward, after=self._ran)
        torch.autograd._engine_run_backward = run
        torch.autograd.graph._engine_run_backward = run
        from torch.optim import optimizer as optim

        optim.register_optimizer_step_pre_hook(self._before_step)
        optim.register_optimizer_step_post_hook(self._after_step)

    def error(self) -> None:
        """The watch has found the first error."""
        if self.losses_at_error is not None:
            return
        self.losses_at_error = len(self.losses)
        self.step_of_error = self.steps
        if not self.stop_at_error:
            self.last_step = self.steps + 1 + self.steps_after
            self.adapter.watch(False)
            _silence()

    # ---------------------------------------------------------------- what torch tells
    def _backward(self, roots=(), *_: object) -> None:
        if len(self.losses) < MOST_LOSSES and not Aside.now:
            self.loss_steps.append(self.steps)
            self.losses.append(self._value(roots))

    def _value(self, roots) -> float | None:
        try:
            with unwatched(self.adapter):
                return sum(float(root.detach().double().sum()) for root in roots)
        except Exception:
            return None  # complex, on its way through a transform

    def _ran(self, result: object) -> object:
        if not self._has_optimizer and not Aside.now:
            self.steps += 1
            self._stop_if_done()
        return result

    def _before_step(self, optimizer, *_: object) -> None:
        if not self._has_optimizer:
            self._has_optimizer, self.steps = True, 0
        with unwatched(self.adapter):
            gradients = [
                p.grad
                for group in optimizer.param_groups
                for p in group["params"]
                if p.grad is not None and p.grad.layout == sys.modules["torch"].strided
            ]
            if gradients and not any(bool(g.count_nonzero()) for g in gradients):
                self.without_gradient.append(self.steps)

    def _after_step(self, *_: object) -> None:
        self.steps += 1
        self._stop_if_done()

    def _stop_if_done(self) -> None:
        if self.last_step is not None and self.steps >= self.last_step:
            self.reached_limit = True
            raise Stop(STEPS_DONE)

    def told(self) -> dict:
        return {
            "losses": [_plain(loss) for loss in self.losses],
            "loss_steps": self.loss_steps,
            "steps": self.steps,
            "has_optimizer": self._has_optimizer,
            "without_gradient": self.without_gradient,
            "losses_at_error": self.losses_at_error,
            "step_of_error": self.step_of_error,
            "reached_limit": self.reached_limit,
        }


def _plain(loss: float | None) -> float | str | None:
    return loss if loss is None or math.isfinite(loss) else str(loss)


def _silence() -> None:
    """What a program says after its first NaN is of no use to anybody."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass  # closed: its own affair
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.close(nowhere)
