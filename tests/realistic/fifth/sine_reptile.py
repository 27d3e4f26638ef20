"""Reptile meta-learning on sine tasks; too bold outer rates are rolled back."""
import copy
import math
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class MetaConfig:
    inner_lr: float = 4.0
    inner_steps: int = 12
    outer_lr: float = 0.5
    meta_iters: int = 150
    shots: int = 20
    seed: int = 4


class Sine:
    def __init__(self, gen):
        self.amp = 0.5 + 1.5 * torch.rand((), generator=gen)
        self.phase = math.pi * torch.rand((), generator=gen)
        self.gen = gen

    def sample(self, n):
        x = torch.rand(n, 1, generator=self.gen) * 6 - 3
        return x, self.amp * torch.sin(x + self.phase)


def network():
    return nn.Sequential(nn.Linear(1, 40), nn.ReLU(), nn.Linear(40, 40), nn.ReLU(), nn.Linear(40, 1))


def adapt(model, task, lr, steps, shots):
    """Plain SGD on one task; returns the adapted copy and the last loss."""
    fast = copy.deepcopy(model)
    opt = torch.optim.SGD(fast.parameters(), lr=lr)
    x, y = task.sample(shots)
    loss = torch.tensor(0.0)
    for _ in range(steps):
        loss = F.mse_loss(fast(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        loss = F.mse_loss(fast(x), y)
    return fast, loss


def healthy(model, loss):
    return bool(torch.isfinite(loss)) and all(bool(torch.isfinite(p).all()) for p in model.parameters())


@torch.no_grad()
def interpolate(model, fast, rate):
    for p, q in zip(model.parameters(), fast.parameters()):
        p.lerp_(q, rate)


def meta_test(model, gen, lr, cfg, tasks=10):
    before, after = 0.0, 0.0
    for _ in range(tasks):
        task = Sine(gen)
        fast, _ = adapt(model, task, lr, cfg.inner_steps, cfg.shots)
        x, y = task.sample(100)
        with torch.no_grad():
            before += F.mse_loss(model(x), y).item() / tasks
            after += F.mse_loss(fast(x), y).item() / tasks
    return before, after


def main():
    cfg = MetaConfig()
    torch.manual_seed(cfg.seed)
    gen = torch.Generator().manual_seed(cfg.seed)
    model = network()
    snapshot = copy.deepcopy(model.state_dict())
    inner_lr, rollbacks, accepted = cfg.inner_lr, 0, 0
    best = float("inf")

    for it in range(cfg.meta_iters):
        fast, loss = adapt(model, Sine(gen), inner_lr, cfg.inner_steps, cfg.shots)
        interpolate(model, fast, cfg.outer_lr * (1 - it / cfg.meta_iters))
        if not healthy(model, loss) or loss.item() > 50.0:
            # diverged: forget this task, be more careful from here on
            model.load_state_dict(snapshot)
            inner_lr *= 0.5
            rollbacks += 1
            continue
        snapshot = copy.deepcopy(model.state_dict())
        best = min(best, loss.item())
        accepted += 1
        if it % 25 == 0:
            print(f"iter {it} inner loss {loss.item():.4f} best {best:.4f} inner lr {inner_lr:g}")

    before, after = meta_test(model, gen, inner_lr * 0.1, cfg)
    print(f"accepted {accepted} rolled back {rollbacks}; test {before:.3f} -> {after:.3f}")


if __name__ == "__main__":
    main()
