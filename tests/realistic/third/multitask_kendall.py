"""Three tasks on one trunk, weighted by learned uncertainty (Kendall et al.)."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class Trunk(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.depth = nn.Linear(width, 1)
        self.label = nn.Linear(width, 3)
        self.offset = nn.Linear(width, 2)

    def forward(self, x):
        h = self.body(x)
        return self.depth(h).squeeze(1), self.label(h), self.offset(h)


class UncertaintyWeights(nn.Module):
    """loss = sum_i exp(-s_i) L_i + s_i with s_i = log sigma_i^2."""

    def __init__(self, tasks):
        super().__init__()
        self.s = nn.Parameter(torch.zeros(tasks))

    def forward(self, losses):
        precision = torch.exp(-self.s)
        return (precision * torch.stack(losses) + self.s).sum()


def scenes(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 6, generator=g)
    depth = x[:, 0].abs() + 0.1 * torch.randn(n, generator=g)
    label = (x[:, 1] > 0).long() + (x[:, 2] > 0.5).long()
    offset = x[:, 3:5] * 0.5
    seen = torch.zeros(n, dtype=torch.bool)    # offsets are annotated in the second half only
    return x, depth, label, offset, seen


def task_losses(out, depth, label, offset, seen):
    d, l, o = out
    count = seen.sum().clamp(min=1)
    per_scene = F.smooth_l1_loss(o, offset, reduction="none").mean(1)
    return [F.mse_loss(d, depth), F.cross_entropy(l, label), (per_scene * seen).sum() / count]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=1500)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--weight-lr", type=float, default=0.1)
    args = ap.parse_args()
    torch.manual_seed(4)
    torch.set_num_threads(1)
    data = scenes(512, 3)
    trunk, weights = Trunk(), UncertaintyWeights(3)
    opt = torch.optim.Adam([
        {"params": trunk.parameters(), "lr": args.lr},
        {"params": weights.parameters(), "lr": args.weight_lr},
    ])
    for step in range(args.steps):
        rows = torch.randint(0, 512, (32,))
        x, *targets = (t[rows] for t in data)
        loss = weights(task_losses(trunk(x), *targets))
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 100 == 0:
            print(f"step {step:4d} loss {loss.item():+.3f} s {[round(v, 2) for v in weights.s.tolist()]}")


if __name__ == "__main__":
    main()
