# A guard on the loss that never fires: the log-rate is clamped
# expect: silence
import math
import sys

import torch
from torch import nn


class RateNet(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, 1)

    def forward(self, x):
        return self.linear(x).squeeze(-1)


def poisson_nll(log_rate, target):
    rate = torch.exp(log_rate.clamp(max=20.0))
    return (rate - target * log_rate).mean()


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        self.steps = 0

    def step(self, x, y):
        loss = poisson_nll(self.model(x), y)
        if not math.isfinite(loss.item()):
            print(f"loss is {loss.item()}, stopping at step {self.steps}", file=sys.stderr)
            sys.exit(1)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.steps += 1
        return loss.item()


def main():
    torch.manual_seed(0)
    trainer = Trainer(RateNet(5), lr=1e-3)
    for day in range(12):
        x = torch.randn(32, 5)
        if day == 9:
            x[4, 2] = 5_000.0  # a glitch of the meter
            x[5, 2] = -5_000.0
        y = torch.poisson(torch.exp(x[:, 0].clamp(-3, 3)))
        print(f"day {day}: {trainer.step(x, y):.4f}")


if __name__ == "__main__":
    main()
