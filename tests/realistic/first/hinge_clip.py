import argparse
import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def two_moons(n, seed, noise=0.08):
    g = torch.Generator().manual_seed(seed)
    t = torch.rand(n, generator=g) * torch.pi
    y = torch.randint(0, 2, (n,), generator=g)
    x = torch.stack([t.cos(), t.sin()], 1)
    x = torch.where(y[:, None] == 1, x, torch.tensor([1.0, 0.3]) - x)
    return x + noise * torch.randn(n, 2, generator=g), y.float() * 2 - 1


class MarginNet(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.l1 = nn.Linear(2, width)
        self.l2 = nn.Linear(width, width)
        self.l3 = nn.Linear(width, 1)

    def forward(self, x):
        x = torch.relu(self.l1(x))
        x = torch.relu(self.l2(x))
        return self.l3(x)[:, 0]


def hinge(score, y):
    return (1 - y * score).clamp(min=0).mean()


@torch.no_grad()
def rescale_grads(params, max_norm):
    """Normalised gradient descent: every update has the same gradient norm."""
    grads = [p.grad for p in params if p.grad is not None]
    total = torch.stack([g.pow(2).sum() for g in grads]).sum().sqrt()
    coef = max_norm / total
    for g in grads:
        g.mul_(coef)
    return total


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=20)
    ap.add_argument("--batch", type=int, default=16)
    ap.add_argument("--lr", type=float, default=0.1)
    ap.add_argument("--grad-norm", type=float, default=1.0)
    args = ap.parse_args()
    torch.manual_seed(13)
    torch.set_num_threads(1)

    loader = DataLoader(TensorDataset(*two_moons(160, 0)), batch_size=args.batch, shuffle=True)
    xv, yv = two_moons(100, 1)
    model = MarginNet()
    params = list(model.parameters())
    opt = torch.optim.SGD(params, lr=args.lr, momentum=0.5)
    sched = torch.optim.lr_scheduler.StepLR(opt, 8, 0.5)
    for epoch in range(args.epochs):
        norms, total = [], 0.0
        for x, y in loader:
            loss = hinge(model(x), y)
            opt.zero_grad()
            loss.backward()
            norms.append(rescale_grads(params, args.grad_norm).item())
            opt.step()
            total += loss.item()
        sched.step()
        with torch.no_grad():
            acc = (model(xv).sign() == yv).float().mean().item()
        print(f"epoch {epoch:2d} hinge {total / len(loader):.4f} grad {sum(norms) / len(norms):.3f} acc {acc:.2f}")
    if acc < 0.9:
        sys.exit(f"final accuracy too low: {acc:.2f}")


if __name__ == "__main__":
    main()
