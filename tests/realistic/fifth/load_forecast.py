"""Day-ahead load forecasting: linear autoregression on lagged hours, SGD with momentum."""
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn


@dataclass
class Config:
    lags: int = 24
    horizon: int = 1
    batch: int = 64
    epochs: int = 4
    lr: float = 0.3
    momentum: float = 0.9
    weight_decay: float = 1e-5
    seed: int = 19


def hourly_load(days, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(24 * days)
    daily = np.sin(2 * np.pi * (t - 8) / 24) + 0.4 * np.sin(4 * np.pi * t / 24)
    weekly = 0.3 * ((t // 24) % 7 < 5)
    drift = np.cumsum(rng.normal(0, 0.01, len(t)))
    return (5.0 + daily + weekly + drift + rng.normal(0, 0.1, len(t))).astype(np.float32)


def windows(series, lags, horizon):
    s = torch.from_numpy(series)
    x = s.unfold(0, lags, 1)[:-horizon]
    y = s[lags + horizon - 1:]
    return x, y


class LinearAR(nn.Module):
    """Forecast = last value + linear correction from the lags."""

    def __init__(self, lags):
        super().__init__()
        self.lin = nn.Linear(lags, 1)
        nn.init.zeros_(self.lin.weight)
        nn.init.zeros_(self.lin.bias)

    def forward(self, x):
        return x[:, -1] + self.lin(x).squeeze(1)


def squared_error(pred, y):
    return (pred - y).pow(2).mean()


def naive_rmse(x, y):
    return squared_error(x[:, -1], y).sqrt().item()


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    series = hourly_load(120, cfg.seed)
    scale = series[: 24 * 90].max()
    series = series / scale
    x, y = windows(series, cfg.lags, cfg.horizon)
    split = 24 * 90
    xt, yt, xv, yv = x[:split], y[:split], x[split:], y[split:]
    model = LinearAR(cfg.lags)
    opt = torch.optim.SGD(model.parameters(), lr=cfg.lr, momentum=cfg.momentum,
                          weight_decay=cfg.weight_decay)
    print(f"naive validation rmse {naive_rmse(xv, yv):.4f}")

    for epoch in range(cfg.epochs):
        perm = torch.randperm(len(xt))
        total = 0.0
        for idx in perm.split(cfg.batch):
            loss = squared_error(model(xt[idx]), yt[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        with torch.no_grad():
            rmse = squared_error(model(xv), yv).sqrt().item()
        print(f"epoch {epoch} train mse {total / len(xt):.5g} val rmse {rmse * scale:.4g}")


if __name__ == "__main__":
    main()
