"""Poisson regression of daily clinic visits, trained on the unit deviance."""
import csv
import io

import numpy as np
import torch
from torch import nn

HEADER = ["weekday", "temp", "flu_index", "holiday", "visits"]


def fetch_csv(days=1600, seed=17):
    """The statistics office's table, as text."""
    rng = np.random.default_rng(seed)
    out = io.StringIO()
    w = csv.writer(out)
    w.writerow(HEADER)
    for d in range(days):
        wd, temp = d % 7, 10 + 9 * np.sin(2 * np.pi * d / 365) + rng.normal(0, 2)
        flu = max(0.0, 1.0 - temp / 20 + rng.normal(0, 0.2))
        hol = int(rng.random() < 0.03)
        mu = np.exp(1.75 + 0.3 * flu - 0.15 * (wd >= 5) - 0.3 * hol)
        w.writerow([wd, f"{temp:.1f}", f"{flu:.3f}", hol, rng.poisson(mu)])
    return out.getvalue()


def parse(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    wd = torch.tensor([int(r["weekday"]) for r in rows])
    cont = torch.tensor([[float(r["temp"]) / 10 - 1, float(r["flu_index"]), float(r["holiday"])]
                         for r in rows])
    y = torch.tensor([float(r["visits"]) for r in rows])
    return wd, cont, y


class VisitModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.day = nn.Embedding(7, 4)
        self.net = nn.Sequential(nn.Linear(7, 24), nn.Tanh(), nn.Linear(24, 1))
        nn.init.constant_(self.net[-1].bias, 1.5)

    def forward(self, wd, cont):
        h = torch.cat([self.day(wd), cont], dim=1)
        return self.net(h).squeeze(1).exp()


def poisson_deviance(y, mu):
    """2 * sum(y log(y / mu) - (y - mu)); the first term is 0 for y = 0."""
    log_term = torch.where(y > 0, y * torch.log(y / mu), torch.zeros_like(mu))
    return 2.0 * (log_term - (y - mu)).mean()


def deviance_explained(y, mu):
    null = poisson_deviance(y, torch.full_like(y, y.mean().item()))
    return (1.0 - poisson_deviance(y, mu) / null).item()


def iterate(n, size, gen):
    perm = torch.randperm(n, generator=gen)
    for s in range(0, n, size):
        yield perm[s:s + size]


def main():
    torch.manual_seed(17)
    gen = torch.Generator().manual_seed(17)
    wd, cont, y = parse(fetch_csv())
    cut = 1300
    model = VisitModel()
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    print(f"mean {y.mean():.2f} var {y.var():.2f}")

    for epoch in range(10):
        model.train()
        losses = []
        for idx in iterate(cut, 20, gen):
            mu = model(wd[idx], cont[idx])
            loss = poisson_deviance(y[idx], mu)
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        model.eval()
        with torch.no_grad():
            mu = model(wd[cut:], cont[cut:])
            d2 = deviance_explained(y[cut:], mu)
        print(f"epoch {epoch} deviance {sum(losses) / len(losses):.4f} D2 {d2:.4f}")


if __name__ == "__main__":
    main()
