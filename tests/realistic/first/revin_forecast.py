"""One-step weather station forecasting with per-window normalisation (RevIN style)."""
from __future__ import annotations

import argparse

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import ConcatDataset, DataLoader, Dataset

# (mean level, daily swing, noise) of each channel
CHANNELS = {
    "temperature_c": (12.0, 6.0, 0.5),
    "humidity_pct": (60.0, 15.0, 2.0),
    "wind_ms": (4.0, 2.0, 0.8),
    "pressure_pa": (101325.0, 12.0, 3.0),
}


class Windows(Dataset):
    def __init__(self, series: np.ndarray, length: int):
        self.series = torch.as_tensor(series, dtype=torch.float32)
        self.length = length

    def __len__(self) -> int:
        return len(self.series) - self.length

    def __getitem__(self, i: int) -> tuple[Tensor, Tensor]:
        return self.series[i:i + self.length], self.series[i + self.length]


class RevIN(nn.Module):
    def __init__(self, eps: float = 1e-5):
        super().__init__()
        self.eps = eps
        self.gain = nn.Parameter(torch.ones(1))
        self.shift = nn.Parameter(torch.zeros(1))

    def stats(self, x: Tensor) -> tuple[Tensor, Tensor]:
        mean = x.mean(dim=1, keepdim=True)
        var = (x * x).mean(dim=1, keepdim=True) - mean * mean
        return mean, torch.sqrt(var + self.eps)

    def normalize(self, x: Tensor, mean: Tensor, std: Tensor) -> Tensor:
        return (x - mean) / std * self.gain + self.shift

    def denormalize(self, y: Tensor, mean: Tensor, std: Tensor) -> Tensor:
        return (y - self.shift) / self.gain * std.squeeze(1) + mean.squeeze(1)


class Forecaster(nn.Module):
    def __init__(self, length: int, hidden: int = 32):
        super().__init__()
        self.revin = RevIN()
        self.mlp = nn.Sequential(nn.Linear(length, hidden), nn.GELU(), nn.Dropout(0.1), nn.Linear(hidden, 1))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        mean, std = self.revin.stats(x)
        z = self.revin.normalize(x, mean, std)
        y = self.mlp(z).squeeze(1)
        return self.revin.denormalize(y, mean, std), std.squeeze(1)


def simulate(name: str, hours: int, rng: np.random.Generator) -> np.ndarray:
    level, swing, noise = CHANNELS[name]
    t = np.arange(hours)
    return level + swing * np.sin(2 * np.pi * t / 24 + rng.uniform(0, 6)) + noise * rng.normal(size=hours)


def main() -> None:
    ap = argparse.ArgumentParser()
    ap.add_argument("--window", type=int, default=24)
    ap.add_argument("--hours", type=int, default=184)
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--lr", type=float, default=2e-3)
    args = ap.parse_args()
    torch.manual_seed(9)
    torch.set_num_threads(1)
    rng = np.random.default_rng(9)

    stations = {name: Windows(simulate(name, args.hours, rng)[:, None].squeeze(1), args.window) for name in CHANNELS}
    loader = DataLoader(ConcatDataset(list(stations.values())), batch_size=32)
    model = Forecaster(args.window)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    best = float("inf")
    for epoch in range(args.epochs):
        model.train()
        losses = []
        for x, y in loader:
            pred, scale = model(x)
            loss = nn.functional.huber_loss(pred / scale, y / scale)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            losses.append(loss.item())
        epoch_loss = float(np.mean(losses))
        best = min(best, epoch_loss)
        print(f"epoch {epoch} huber {epoch_loss:.4f} best {best:.4f}")
    model.eval()
    with torch.no_grad():
        for name, ds in stations.items():
            x = torch.stack([ds[i][0] for i in range(len(ds))])
            y = torch.stack([ds[i][1] for i in range(len(ds))])
            print(f"{name:>14}: MAE {(model(x)[0] - y).abs().mean():.3f}")


if __name__ == "__main__":
    main()
