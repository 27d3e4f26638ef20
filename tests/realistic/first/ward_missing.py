"""Early warning from ward vitals with many unmeasured values (NaN in the raw table)."""
import argparse
import warnings

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

VITALS = ["heart_rate", "resp", "spo2", "temp", "lactate", "gcs"]


class WardDataset(Dataset):
    """Sequences of vitals; NaN marks values that nobody measured."""

    def __init__(self, n, hours=16, seed=0, stats=None):
        rng = np.random.default_rng(seed)
        level = np.array([80, 16, 97, 37, 1.5, 14.0])
        spread = np.array([12, 3, 2, 0.5, 0.6, 1.0])
        miss = np.array([0.05, 0.1, 0.1, 0.5, 0.9, 0.7])
        self.y = rng.random(n) < 0.4
        drift = self.y[:, None, None] * np.linspace(0, 1.5, hours)[None, :, None] * np.array([1, 1, -1, 0.5, 1, -1])
        x = level + spread * (rng.normal(size=(n, hours, 6)) + drift)
        x[rng.random(x.shape) < miss] = np.nan
        x[: n // 10, :, 4] = np.nan
        self.x = torch.from_numpy(x).float()
        if stats is None:
            flat = self.x.flatten(0, 1)
            mean = flat.nanmean(dim=0)
            var = (flat - mean).square().nanmean(dim=0)
            stats = mean, var.sqrt()
        self.stats = stats

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        mean, std = self.stats
        raw = self.x[i]
        seen = ~torch.isnan(raw)
        z = torch.nan_to_num((raw - mean) / std, nan=0.0)
        return z, seen.float(), torch.tensor(float(self.y[i]))


def hours_since_measured(seen):
    """B x T x D, for the decay term"""
    delta = torch.zeros_like(seen)
    for t in range(1, seen.size(1)):
        delta[:, t] = torch.where(seen[:, t - 1] > 0, torch.ones_like(delta[:, t]), delta[:, t - 1] + 1)
    return delta


class GRUD(nn.Module):
    def __init__(self, d, hidden=24):
        super().__init__()
        self.decay = nn.Linear(d, d)
        self.cell = nn.GRUCell(3 * d, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, z, seen):
        delta = hours_since_measured(seen)
        h = z.new_zeros(z.size(0), self.cell.hidden_size)
        last = torch.zeros_like(z[:, 0])
        for t in range(z.size(1)):
            gamma = torch.exp(-torch.relu(self.decay(delta[:, t])))
            last = torch.where(seen[:, t] > 0, z[:, t], gamma * last)
            h = self.cell(torch.cat([last, seen[:, t], gamma], dim=1), h)
        return self.out(h).squeeze(1)


def per_patient_report(ds):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        means = np.nanmean(ds.x.numpy(), axis=1)
    never = np.isnan(means).mean(axis=0)
    for name, frac, m in zip(VITALS, never, np.nanmean(means, axis=0)):
        print(f"  {name:>10}: mean {m:7.2f}, never measured in {frac:.0%} of stays")


def auroc(score, y):
    pos, neg = score[y > 0.5], score[y < 0.5]
    if len(pos) == 0 or len(neg) == 0:
        return float("nan")
    return (pos[:, None] > neg[None, :]).float().mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--lr", type=float, default=5e-3)
    args = ap.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    train = WardDataset(160, seed=0)
    test = WardDataset(60, seed=1, stats=train.stats)
    per_patient_report(train)
    model = GRUD(len(VITALS))
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    history = torch.full((args.epochs, 2), float("nan"))
    for epoch in range(args.epochs):
        losses = []
        for z, seen, y in DataLoader(train, batch_size=32, shuffle=True):
            loss = nn.functional.binary_cross_entropy_with_logits(model(z, seen), y)
            opt.zero_grad(); loss.backward(); opt.step()
            losses.append(loss.item())
        history[epoch, 0] = sum(losses) / len(losses)
        if epoch % 2 == 1:
            with torch.no_grad():
                z, seen, y = next(iter(DataLoader(test, batch_size=60)))
                history[epoch, 1] = auroc(model(z, seen), y)
        print(f"epoch {epoch} loss {history[epoch, 0]:.4f} auroc {history[epoch, 1]:.3f}")
    print(f"best auroc {np.nanmax(history[:, 1].numpy()):.3f}")


if __name__ == "__main__":
    main()
