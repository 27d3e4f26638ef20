"""Predicts melting points; stops when the validation correlation gets no better."""
import torch
from torch import nn


def molecules(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.rand(n, 12, generator=g)
    y = 2.0 * x[:, 0] - 1.2 * x[:, 1] * x[:, 2] + 0.05 * torch.randn(n, generator=g)
    return x, y


def pearson(a, b):
    a = a - a.mean()
    b = b - b.mean()
    return (a * b).sum() / (a.norm() * b.norm())


class EarlyStopping:
    def __init__(self, patience):
        self.patience = patience
        self.best = -float("inf")
        self.waited = 0

    def better(self, score):
        if score > self.best:
            self.best, self.waited = score, 0
        else:
            self.waited += 1
        return self.waited < self.patience


class Regressor(nn.Module):
    def __init__(self, inputs, width):
        super().__init__()
        self.first = nn.Linear(inputs, width)
        self.second = nn.Linear(width, 1)
        nn.init.zeros_(self.second.weight)

    def forward(self, x):
        h = torch.relu(self.first(x))
        return self.second(h).squeeze(1).clamp(min=0.0)


def run_epoch(model, opt, x, y, batch):
    order = torch.randperm(len(x))
    total = 0.0
    for part in order.split(batch):
        loss = nn.functional.smooth_l1_loss(model(x[part]), y[part])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(part)
    return total / len(x)


def main():
    torch.manual_seed(11)
    torch.set_num_threads(1)
    x, y = molecules(400, 0)
    xv, yv = molecules(100, 1)
    model = Regressor(12, 24)
    with torch.no_grad():
        model.second.bias.fill_(-0.4)
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    stopper = EarlyStopping(patience=3)
    for epoch in range(60):
        loss = run_epoch(model, opt, x, y, 32)
        with torch.no_grad():
            score = pearson(model(xv), yv).item()
        print(f"epoch {epoch:2d} loss {loss:.4f} r {score:.3f}")
        if not stopper.better(score):
            print(f"no progress for {stopper.patience} epochs, stopping")
            break
    print(f"best correlation {stopper.best:.3f}")


if __name__ == "__main__":
    main()
