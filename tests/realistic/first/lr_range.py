"""Learning-rate range test (Smith 2017), then a normal training run with the suggested rate."""
import argparse
import copy
import math

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def spirals(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 3, (n,), generator=g)
    r = torch.rand(n, generator=g)
    a = 4 * r + 2 * math.pi * y / 3 + 0.15 * torch.randn(n, generator=g)
    return TensorDataset(torch.stack([r * a.cos(), r * a.sin()], 1) * 2, y)


class MLP(nn.Module):
    def __init__(self, width=48, depth=3):
        super().__init__()
        dims = [2] + [width] * depth
        self.layers = nn.ModuleList(nn.Linear(i, o) for i, o in zip(dims, dims[1:]))
        self.out = nn.Linear(width, 3)

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.out(x)


class LRFinder:
    """Raises the rate exponentially until the loss blows up; leaves model and optimizer as they were."""

    def __init__(self, model, optimizer, criterion):
        self.model, self.optimizer, self.criterion = model, optimizer, criterion
        self.saved = copy.deepcopy(model.state_dict()), copy.deepcopy(optimizer.state_dict())

    def run(self, loader, lr_min=1e-4, lr_max=1e6, steps=60):
        lrs, losses = [], []
        factor = (lr_max / lr_min) ** (1 / (steps - 1))
        lr, it = lr_min, iter(loader)
        for _ in range(steps):
            try:
                x, y = next(it)
            except StopIteration:
                it = iter(loader)
                x, y = next(it)
            for group in self.optimizer.param_groups:
                group["lr"] = lr
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            lrs.append(lr)
            losses.append(loss.item())
            if not math.isfinite(losses[-1]):
                print(f"range test stopped at lr {lr:.3g}: loss is {losses[-1]}")
                break
            lr *= factor
        self.restore()
        return lrs, losses

    def restore(self):
        model_state, opt_state = self.saved
        self.model.load_state_dict(model_state)
        self.optimizer.load_state_dict(opt_state)


def suggest(lrs, losses):
    best, best_lr = math.inf, lrs[0]
    smooth = losses[0]
    for lr, loss in zip(lrs, losses):
        if not math.isfinite(loss):
            break
        smooth = 0.7 * smooth + 0.3 * loss
        if smooth < best:
            best, best_lr = smooth, lr
    return best_lr / 10


def accuracy(model, data):
    x, y = data.tensors
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=6)
    p.add_argument("--momentum", type=float, default=0.9)
    p.add_argument("--seed", type=int, default=3)
    args = p.parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    train, test = spirals(384, 0), spirals(128, 1)
    loader = DataLoader(train, batch_size=32, shuffle=True)
    model = MLP()
    criterion = nn.CrossEntropyLoss()
    opt = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=args.momentum)
    lrs, losses = LRFinder(model, opt, criterion).run(loader)
    lr = suggest(lrs, losses)
    print(f"tried {len(lrs)} rates, suggested {lr:.4f}")
    for group in opt.param_groups:
        group["lr"] = lr
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.epochs)
    for epoch in range(args.epochs):
        total = 0.0
        for x, y in loader:
            loss = criterion(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        sched.step()
        print(f"epoch {epoch} loss {total / len(loader):.4f} test acc {accuracy(model, test):.3f}")


if __name__ == "__main__":
    main()
