"""Random search over learning rate / width / momentum with pruning; diverging trials score inf."""
import json
import math
import random
from dataclasses import asdict, dataclass

import torch
from torch import nn

torch.set_num_threads(1)


@dataclass
class Trial:
    lr: float
    width: int
    momentum: float
    score: float = math.inf
    status: str = "pending"


def friedman(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.rand(n, 5, generator=g)
    y = 10 * torch.sin(math.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
    return x, y + 0.3 * torch.randn(n, generator=g)


def build(width):
    return nn.Sequential(
        nn.Linear(5, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1), nn.Flatten(0)
    )


class Study:
    def __init__(self, train, valid, seed=0):
        self.train, self.valid = train, valid
        self.rng = random.Random(seed)
        self.trials = []

    def suggest(self):
        return Trial(
            lr=10 ** self.rng.uniform(-4, 1),
            width=self.rng.choice([8, 16, 32]),
            momentum=self.rng.choice([0.0, 0.5, 0.9]),
        )

    @property
    def best(self):
        return min(self.trials, key=lambda t: t.score, default=None)

    def run(self, trial, epochs):
        torch.manual_seed(0)
        model = build(trial.width)
        opt = torch.optim.SGD(model.parameters(), lr=trial.lr, momentum=trial.momentum)
        x, y = self.train
        for epoch in range(epochs):
            for idx in torch.randperm(len(x)).split(50):
                loss = nn.functional.mse_loss(model(x[idx]), y[idx])
                opt.zero_grad()
                loss.backward()
                opt.step()
            with torch.no_grad():
                val = nn.functional.mse_loss(model(self.valid[0]), self.valid[1]).item()
            if not math.isfinite(val):
                trial.status = "diverged"
                return None
            if epoch == epochs // 2 and self.best is not None and val > 4 * self.best.score:
                trial.score, trial.status = val, "pruned"
                return None
        trial.score, trial.status = val, "done"
        return model

    def optimize(self, n_trials, epochs):
        for k in range(n_trials):
            t = self.suggest()
            self.run(t, epochs)
            self.trials.append(t)
            print(f"trial {k:2d} lr={t.lr:.2e} width={t.width:2d} mom={t.momentum:.1f} -> {t.status:9s} {t.score:.4f}")


def main():
    study = Study(friedman(400, 1), friedman(150, 2), seed=7)
    study.optimize(n_trials=12, epochs=5)
    n_bad = sum(t.status == "diverged" for t in study.trials)
    best = study.best
    print(f"{n_bad} diverged; best {json.dumps(asdict(best))}")
    model = study.run(Trial(best.lr, best.width, best.momentum), epochs=12)
    x, y = friedman(200, 3)
    with torch.no_grad():
        rmse = (model(x) - y).square().mean().sqrt().item()
    print(f"final test rmse {rmse:.4f}")
    assert math.isfinite(rmse)


if __name__ == "__main__":
    main()
