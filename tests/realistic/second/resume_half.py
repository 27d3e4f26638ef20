"""House-price regression with preemption-safe training: checkpoint every epoch, resume from disk."""
import os
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)


class RunningScaler(nn.Module):
    """Standardises inputs with statistics accumulated during training (Welford)."""

    def __init__(self, dim):
        super().__init__()
        self.register_buffer("count", torch.zeros(()))
        self.register_buffer("mean", torch.zeros(dim))
        self.register_buffer("m2", torch.zeros(dim))

    @torch.no_grad()
    def update(self, x):
        n = x.shape[0]
        delta = x.mean(0) - self.mean
        total = self.count + n
        self.m2 += (x - x.mean(0)).square().sum(0) + delta.square() * self.count * n / total
        self.mean += delta * n / total
        self.count.copy_(total)

    def forward(self, x):
        if self.training:
            self.update(x)
        std = (self.m2 / self.count).sqrt().clamp(min=1e-3)
        return (x - self.mean) / std


class PriceNet(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.scaler = RunningScaler(dim)
        self.net = nn.Sequential(nn.Linear(dim, 32), nn.SiLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(self.scaler(x)).squeeze(-1)


def make_houses(n, seed):
    r = np.random.default_rng(seed)
    rooms = r.integers(1, 8, n)
    age = r.uniform(0, 80, n)
    area = 20 * rooms + r.normal(0, 8, n)
    dist = r.gamma(2.0, 3.0, n)
    price = 0.02 * area - 0.01 * age - 0.05 * dist + 0.1 * r.normal(size=n)
    X = np.stack([rooms, age, area, dist], 1)
    return torch.tensor(X, dtype=torch.float32), torch.tensor(price, dtype=torch.float32)


def save_checkpoint(path, model, opt, epoch):
    # weights go out as fp16 to keep the bucket small
    state = {k: v.half() for k, v in model.state_dict().items()}
    torch.save({"model": state, "opt": opt.state_dict(), "epoch": epoch}, path)


def load_checkpoint(path, model, opt):
    ckpt = torch.load(path)
    model.load_state_dict(ckpt["model"])
    opt.load_state_dict(ckpt["opt"])
    return ckpt["epoch"] + 1


def build(dim):
    torch.manual_seed(0)
    model = PriceNet(dim)
    return model, torch.optim.Adam(model.parameters(), lr=1e-2)


def train_job(path, data, epochs):
    """One scheduler slot: picks up where the previous job stopped."""
    model, opt = build(data[0].shape[1])
    start = load_checkpoint(path, model, opt) if os.path.exists(path) else 0
    loader = DataLoader(TensorDataset(*data), 64, shuffle=True)
    for epoch in range(start, min(start + 2, epochs)):
        model.train()
        tot = 0.0
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item() * len(y)
        print(f"epoch {epoch}: mse {tot / len(data[0]):.4f} scaler n={int(model.scaler.count)}")
        save_checkpoint(path, model, opt, epoch)
    return model


def main():
    train, test = make_houses(600, 0), make_houses(200, 1)
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "last.pt")
        for slot in range(3):
            print(f"--- job {slot} ---")
            model = train_job(path, train, epochs=6)
    model.eval()
    with torch.no_grad():
        pred = model(test[0])
    r2 = 1 - (pred - test[1]).square().sum() / (test[1] - test[1].mean()).square().sum()
    print(f"test R2 {r2:.3f}")


if __name__ == "__main__":
    main()
