"""In a child: counts the losses and steps of one run, and notes where the first error was."""

from __future__ import annotations

import os
import sys

from nanscope import _core
from nanscope.errors import Stop
from nanscope.fix.run.messages import RunLog
from nanscope.fix.run.probe import Aside, unwatched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

MOST_LOSSES = 1_000_000
TRACED = ("FakeTensor", "FunctionalTensor")  # a compiler is at work: nothing is computed
STEPS_DONE = "the steps that were asked for are done"


class RunLogger:
    """Keeps the log of a run, with the watch on or off, and stops the run at its last step."""

    def __init__(self, steps_after: int, last_step: int | None, stop_at_error: bool) -> None:
        self.steps_after = steps_after
        self.last_step = last_step  # stop when so many are done
        self.stop_at_error = stop_at_error
        self.log = RunLog()
        self.adapter: ModuleType | None = None
        self._has_optimizer = False
        self._traced = False  # the backward that began last

    def attach(self, torch: ModuleType, adapter: ModuleType) -> None:
        self.adapter = adapter
        run = _core.Around(
            adapter.run_backward, before=self._before_backward, after=self._after_backward
        )
        torch.autograd._engine_run_backward = run
        torch.autograd.graph._engine_run_backward = run
        from torch.optim import optimizer as optim

        optim.register_optimizer_step_pre_hook(self._before_step)
        optim.register_optimizer_step_post_hook(self._after_step)

    def note_error(self) -> None:
        """Notes where the watch has found an error, the first time."""
        log = self.log
        if log.losses_at_error is not None:
            return
        log.losses_at_error = len(log.losses)
        log.step_of_error = log.steps
        if not self.stop_at_error:
            self.last_step = log.steps + 1 + self.steps_after
            self.adapter.watch(False)
            _silence()

    # ---------------------------------------------------------------- hooks of torch
    def _before_backward(self, roots=(), *_: object) -> None:
        log = self.log
        self._traced = any(type(root).__name__ in TRACED for root in roots)
        if len(log.losses) < MOST_LOSSES and not Aside.now and not self._traced:
            log.loss_steps.append(log.steps)
            log.losses.append(self._value(roots))

    def _value(self, roots) -> float | None:
        try:
            with unwatched(self.adapter):
                return sum(float(root.detach().double().sum()) for root in roots)
        except Exception:
            return None  # complex, on its way through a transform

    def _after_backward(self, result: object) -> object:
        if not self._has_optimizer and not Aside.now and not self._traced:
            self.log.steps += 1
            self._stop_if_done()
        return result

    def _before_step(self, optimizer, *_: object) -> None:
        log = self.log
        if not self._has_optimizer:
            self._has_optimizer, log.steps = True, 0
        with unwatched(self.adapter):
            gradients = [
                p.grad
                for group in optimizer.param_groups
                for p in group["params"]
                if p.grad is not None and p.grad.layout == sys.modules["torch"].strided
            ]
            if gradients and not any(bool(g.count_nonzero()) for g in gradients):
                log.without_gradient.append(log.steps)

    def _after_step(self, *_: object) -> None:
        self.log.steps += 1
        self._stop_if_done()

    def _stop_if_done(self) -> None:
        if self.last_step is not None and self.log.steps >= self.last_step:
            self.log.reached_limit = True
            raise Stop(STEPS_DONE)


def _silence() -> None:
    """Throws away what the program prints after its first NaN: it is of no use to anybody."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass  # closed: its own affair
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.close(nowhere)
