"""Metric learning on a product catalogue: triplet loss with random mining."""
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    n_products: int = 60
    listings_per_product: int = 8
    dim: int = 24
    emb: int = 16
    batch: int = 32
    steps: int = 300
    margin: float = 0.5
    lr: float = 1e-3
    seed: int = 3


def build_catalogue(cfg):
    """Every product has several listings; some sellers copy a listing as it is."""
    rng = np.random.default_rng(cfg.seed)
    proto = rng.normal(size=(cfg.n_products, cfg.dim))
    feats, labels = [], []
    for k in range(cfg.n_products):
        rows = proto[k] + 0.4 * rng.normal(size=(cfg.listings_per_product, cfg.dim))
        if k % 12 == 5:
            rows[3] = rows[1]
        feats.append(rows)
        labels += [k] * cfg.listings_per_product
    x = torch.tensor(np.concatenate(feats), dtype=torch.float32)
    return x, torch.tensor(labels)


class Embedder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(cfg.dim, 64), nn.ReLU(),
            nn.Linear(64, cfg.emb),
        )

    def forward(self, x):
        return F.normalize(self.net(x), dim=1)


def euclidean(a, b):
    return (a - b).pow(2).sum(dim=1).sqrt()


class TripletSampler:
    def __init__(self, labels, seed):
        self.labels = labels.numpy()
        self.rng = np.random.default_rng(seed)
        self.groups = {k: np.flatnonzero(self.labels == k) for k in np.unique(self.labels)}

    def draw(self, n):
        a = self.rng.integers(0, len(self.labels), size=n)
        p, q = np.empty(n, dtype=int), np.empty(n, dtype=int)
        for i, ai in enumerate(a):
            own = self.groups[self.labels[ai]]
            p[i] = self.rng.choice(own[own != ai])
            while True:
                cand = self.rng.integers(0, len(self.labels))
                if self.labels[cand] != self.labels[ai]:
                    q[i] = cand
                    break
        return a, p, q


@torch.no_grad()
def recall_at_1(model, x, labels):
    z = model(x)
    sim = z @ z.t()
    sim.fill_diagonal_(-2.0)
    return (labels[sim.argmax(dim=1)] == labels).float().mean().item()


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    x, labels = build_catalogue(cfg)
    model = Embedder(cfg)
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=1e-4)
    sampler = TripletSampler(labels, cfg.seed + 1)

    for step in range(cfg.steps):
        a, p, n = sampler.draw(cfg.batch)
        za, zp, zn = model(x[a]), model(x[p]), model(x[n])
        d_pos = euclidean(za, zp)
        d_neg = euclidean(za, zn)
        loss = F.relu(d_pos - d_neg + cfg.margin).mean()
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        if step % 50 == 0:
            print(f"step {step:4d} loss {loss.item():.4f} R@1 {recall_at_1(model, x, labels):.3f}")
    print("final R@1", recall_at_1(model, x, labels))


if __name__ == "__main__":
    main()
