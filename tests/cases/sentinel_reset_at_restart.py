# The best loss is reset to inf at a warm restart, the relative gain (inf - x) / inf is NaN and scales the rate
# expect: error
# phase: forward | optimizer
# op: aten::div
# line: 27
# cause: inf_minus_inf | division_by_zero | zero_times_inf
import math

import torch
from torch import nn


class GainSchedule:
    """Lowers the rate while the relative gain is small. Works on tensors: no synchronisation."""

    def __init__(self, rate):
        self.rate = torch.tensor(rate)
        self.best = None

    def restart(self):
        self.best = torch.tensor(math.inf)

    def update(self, loss):
        loss = loss.detach()
        if self.best is None:
            self.best = loss
        gain = (self.best - loss) / self.best
        self.rate = (self.rate * (1 + gain)).clamp(1e-4, 0.2)
        self.best = torch.minimum(self.best, loss)


@torch.no_grad()
def sgd(parameters, rate):
    for p in parameters:
        p -= rate * p.grad
        p.grad = None


def main():
    torch.manual_seed(0)
    x = torch.randn(40, 4)
    y = x @ torch.tensor([1.0, -2.0, 0.5, 0.0]) + 0.1
    model = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 1))
    schedule = GainSchedule(0.05)
    for step in range(30):
        if step == 20:
            schedule.restart()
        loss = nn.functional.smooth_l1_loss(model(x).squeeze(-1), y)
        loss.backward()
        schedule.update(loss)
        sgd(model.parameters(), schedule.rate)
        if step % 10 == 9:
            print(step, f"{loss.item():.4f}")


if __name__ == "__main__":
    main()
