"""Negative-binomial forecasts of intermittent spare-part demand with an LSTM."""
import math
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    parts: int = 60
    weeks: int = 80
    context: int = 24
    batch: int = 32
    epochs: int = 6
    lr: float = 4e-3
    patience: int = 3
    seed: int = 27


def demand(cfg):
    rng = np.random.default_rng(cfg.seed)
    rate = rng.gamma(1.0, 2.0, size=(cfg.parts, 1))
    season = 1 + 0.4 * np.sin(2 * np.pi * np.arange(cfg.weeks) / 26 + rng.uniform(0, 6, (cfg.parts, 1)))
    lam = rate * season * rng.gamma(2.0, 0.5, size=(cfg.parts, cfg.weeks))
    return torch.from_numpy(rng.poisson(lam).astype(np.float32))


class DemandLSTM(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.rnn = nn.LSTM(2, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 2)

    def forward(self, past):
        x = torch.stack([torch.log1p(past), (past == 0).float()], dim=-1)
        h, _ = self.rnn(x)
        a, b = self.out(h[:, -1]).unbind(-1)
        return F.softplus(a) + 1e-4, F.softplus(b) + 1e-3     # mean, dispersion r


def nb_nll(y, mu, r):
    """-log NB(y | mu, r)"""
    log_p = (torch.lgamma(y + r) - torch.lgamma(r) - torch.lgamma(y + 1.0)
             + r * torch.log(r / (r + mu)) + torch.xlogy(y, mu / (r + mu)))
    return -log_p.mean()


def mape(pred, y):
    """Mean absolute percentage error per part; inf and nan weeks (no demand) are left out."""
    ape = (pred - y).abs() / y
    ape = torch.where(torch.isfinite(ape), ape, torch.full_like(ape, float("nan")))
    per_part = ape.nanmean(dim=1)           # nan for parts never asked for
    return 100 * torch.nanmean(per_part).item(), int(torch.isnan(per_part).sum())


def coverage(y, mu, r, n=200):
    gen = torch.Generator().manual_seed(0)
    lam = torch.distributions.Gamma(r, r / mu).sample((n,))
    draws = torch.poisson(lam, generator=gen)
    lo, hi = torch.quantile(draws, 0.05, dim=0), torch.quantile(draws, 0.95, dim=0)
    return ((y >= lo) & (y <= hi)).float().mean().item()


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    data = demand(cfg)
    win = data.unfold(1, cfg.context + 1, 1)
    n_val = 8
    train = win[:, :-n_val].reshape(-1, cfg.context + 1)
    val = win[:, -n_val:]
    print(f"{len(train)} windows, {(train[:, -1] == 0).float().mean():.0%} zeros")
    model = DemandLSTM()
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=0, factor=0.5)
    best, wait = math.inf, 0

    for epoch in range(cfg.epochs):
        total = 0.0
        for idx in torch.randperm(len(train)).split(cfg.batch):
            w = train[idx]
            mu, r = model(w[:, :-1])
            loss = nb_nll(w[:, -1], mu, r)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            total += loss.item() * len(idx)
        with torch.no_grad():
            mu, r = model(val[..., :-1].reshape(-1, cfg.context))
            y = val[..., -1]
            nll = nb_nll(y.reshape(-1), mu, r).item()
            err, silent = mape(mu.view_as(y), y)
            cov = coverage(y.reshape(-1), mu, r)
        sched.step(nll)
        print(f"epoch {epoch} train {total / len(train):.4f} val {nll:.4f} "
              f"MAPE {err:.1f}% ({silent} silent parts) 90% coverage {cov:.2f}")
        if nll < best:
            best, wait = nll, 0
        else:
            wait += 1
            if wait > cfg.patience:
                break
    print(f"best validation nll {best:.4f}")


if __name__ == "__main__":
    main()
