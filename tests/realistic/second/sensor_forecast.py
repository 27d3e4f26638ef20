"""GRU forecaster for plant temperature sensors, windows normalised on the fly."""
import argparse
import sys

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)


def make_series(n_sensors, length, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(length)
    out = []
    for s in range(n_sensors):
        base = 900.0 + 40 * s
        x = base + 25 * np.sin(2 * np.pi * t / rng.integers(30, 80)) + rng.normal(0, 3.0, length)
        if s == 4:
            # this unit was idling for part of the campaign
            x[150:220] = base + rng.normal(0, 0.004, 70)
        out.append(x)
    return np.stack(out).astype(np.float32)


class WindowDataset(Dataset):
    def __init__(self, series, context, horizon, stride=5):
        self.series = torch.from_numpy(series)
        self.context, self.horizon = context, horizon
        self.index = [
            (s, t)
            for s in range(series.shape[0])
            for t in range(0, series.shape[1] - context - horizon, stride)
        ]

    def __len__(self):
        return len(self.index)

    def window_stats(self, x):
        n = x.numel()
        mean = x.sum() / n
        var = x.square().sum() / n - mean.square()
        return mean, var.sqrt()

    def __getitem__(self, i):
        s, t = self.index[i]
        w = self.series[s, t : t + self.context + self.horizon]
        mean, std = self.window_stats(w[: self.context])
        w = (w - mean) / (std + 1e-4)
        return w[: self.context].unsqueeze(-1), w[self.context :].clamp(-6, 6)


class Forecaster(nn.Module):
    def __init__(self, horizon, hidden=24):
        super().__init__()
        self.rnn = nn.GRU(1, hidden, batch_first=True)
        self.head = nn.Linear(hidden, horizon)

    def forward(self, x):
        _, h = self.rnn(x)
        return self.head(h[-1])


def run_epoch(model, loader, opt=None):
    model.train(opt is not None)
    total, count = 0.0, 0
    with torch.set_grad_enabled(opt is not None):
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x), y)
            if opt is not None:
                opt.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                opt.step()
            total += loss.item() * len(y)
            count += len(y)
    return total / count


def main(argv=None):
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--context", type=int, default=32)
    ap.add_argument("--horizon", type=int, default=4)
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--batch-size", type=int, default=32)
    ap.add_argument("--workers", type=int, default=1)
    ap.add_argument("--lr", type=float, default=5e-3)
    args = ap.parse_args(argv)

    torch.manual_seed(22)
    train_ds = WindowDataset(make_series(8, 320, seed=1), args.context, args.horizon)
    val_ds = WindowDataset(make_series(3, 200, seed=2), args.context, args.horizon)
    train_dl = DataLoader(train_ds, args.batch_size, shuffle=True, num_workers=args.workers, drop_last=True)
    val_dl = DataLoader(val_ds, args.batch_size)

    model = Forecaster(args.horizon)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.StepLR(opt, step_size=2, gamma=0.5)
    best = float("inf")
    for epoch in range(args.epochs):
        tr = run_epoch(model, train_dl, opt)
        va = run_epoch(model, val_dl)
        sched.step()
        best = min(best, va)
        print(f"[{epoch}] train mse={tr:.4f} val mse={va:.4f} best={best:.4f} lr={sched.get_last_lr()[0]:.1e}")
    return 0 if best < 5.0 else 1


if __name__ == "__main__":
    sys.exit(main())
