"""Loan default model on a table with missing cells; per-segment reporting."""
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)


@dataclass
class Config:
    rows: int = 900
    cols: int = 7
    missing: float = 0.15
    epochs: int = 6
    batch: int = 64
    lr: float = 5e-3
    seed: int = 19


def make_table(cfg):
    rng = np.random.default_rng(cfg.seed)
    x = rng.normal(size=(cfg.rows, cfg.cols)) * rng.uniform(0.5, 20, cfg.cols)
    z = x[:, 0] / x[:, 0].std() - x[:, 1] / x[:, 1].std()
    y = (z + rng.logistic(size=cfg.rows) > 1.0).astype(np.float32)
    segment = rng.choice(5, size=cfg.rows, p=[0.4, 0.3, 0.2, 0.09, 0.01])
    x[rng.random(x.shape) < cfg.missing] = np.nan
    return x.astype(np.float32), y, segment


class Imputer(nn.Module):
    """Standardise by statistics of the observed cells, mean-fill the rest, append indicators."""

    def __init__(self, x):
        super().__init__()
        mean = torch.nanmean(x, dim=0)
        var = torch.nanmean((x - mean).square(), dim=0)
        self.register_buffer("mean", mean)
        self.register_buffer("std", var.sqrt().clamp(min=1e-6))

    def forward(self, x):
        missing = torch.isnan(x)
        x = torch.where(missing, self.mean.expand_as(x), x)
        return torch.cat([(x - self.mean) / self.std, missing.float()], dim=1)


def auc(score, y):
    pos, neg = score[y == 1], score[y == 0]
    if len(pos) == 0 or len(neg) == 0:
        return float("nan")
    diff = pos[:, None] - neg[None, :]
    return ((diff > 0).float() + 0.5 * (diff == 0).float()).mean().item()


def segment_report(score, y, segment):
    aucs = np.array([auc(score[segment == s], y[segment == s]) for s in range(6)])
    line = " ".join(f"s{s}={a:.3f}" for s, a in enumerate(aucs))
    print(f"   segments: {line}  mean {np.nanmean(aucs):.3f}")
    return float(np.nanmean(aucs))


def main(cfg=Config()):
    torch.manual_seed(cfg.seed)
    x, y, seg = make_table(cfg)
    x, y, seg = torch.from_numpy(x), torch.from_numpy(y), torch.from_numpy(seg)
    n_tr = int(0.75 * cfg.rows)
    xtr, ytr, xva, yva, sva = x[:n_tr], y[:n_tr], x[n_tr:], y[n_tr:], seg[n_tr:]
    print(f"{torch.isnan(x).sum().item()} missing cells of {x.numel()}, default rate {y.mean():.3f}")

    model = nn.Sequential(Imputer(xtr), nn.Linear(2 * cfg.cols, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 1))
    opt = torch.optim.Adam([p for p in model.parameters()], lr=cfg.lr)
    best = float("-inf")
    for epoch in range(cfg.epochs):
        model.train()
        total = torch.zeros(())
        for idx in torch.randperm(n_tr).split(cfg.batch):
            loss = F.binary_cross_entropy_with_logits(model(xtr[idx]).squeeze(1), ytr[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.detach() * len(idx)
        model.eval()
        with torch.no_grad():
            score = model(xva).squeeze(1)
        print(f"epoch {epoch}: loss {total.item() / n_tr:.4f} auc {auc(score, yva):.4f}")
        best = max(best, segment_report(score, yva, sva))
    print(f"best segment-mean AUC {best:.4f}")


if __name__ == "__main__":
    main()
