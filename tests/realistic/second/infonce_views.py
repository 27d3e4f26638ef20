"""SimCLR-like contrastive pre-training (NT-Xent) of an encoder for sensor vectors, with kNN evaluation."""
import math
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)


@dataclass
class Args:
    n: int = 480
    dim: int = 20
    classes: int = 6
    emb: int = 16
    batch: int = 60
    epochs: int = 6
    tau: float = 0.2
    lr: float = 4e-3
    warmup: int = 8
    seed: int = 12


def make_data(a, seed):
    g = torch.Generator().manual_seed(seed)
    c = torch.randn(a.classes, a.dim, generator=torch.Generator().manual_seed(1))
    y = torch.randint(a.classes, (a.n,), generator=g)
    return c[y] + 0.7 * torch.randn(a.n, a.dim, generator=g), y


def augment(x):
    drop = torch.rand_like(x) < 0.2
    return (x + 0.2 * torch.randn_like(x)).masked_fill(drop, 0.0)


class Encoder(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(a.dim, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, a.emb))
        self.g = nn.Sequential(nn.ReLU(), nn.Linear(a.emb, a.emb))

    def forward(self, x):
        h = self.f(x)
        return h, F.normalize(self.g(h), dim=-1)


def nt_xent(z1, z2, tau):
    n = len(z1)
    z = torch.cat([z1, z2])
    sim = z @ z.T / tau
    eye = torch.eye(2 * n, dtype=torch.bool)
    sim = sim.masked_fill(eye, -math.inf)
    target = torch.arange(2 * n).roll(n)
    logp = sim - sim.logsumexp(dim=1, keepdim=True)
    return -logp[torch.arange(2 * n), target].mean()


@torch.no_grad()
def knn_accuracy(model, train, test, k=5):
    model.eval()
    (xa, ya), (xb, yb) = train, test
    za, zb = model(xa)[0], model(xb)[0]
    nearest = torch.cdist(zb, za).topk(k, largest=False).indices
    pred = ya[nearest].mode(dim=1).values
    model.train()
    return (pred == yb).float().mean().item()


def uniformity(z):
    d2 = torch.cdist(z, z).square()
    d2.fill_diagonal_(math.inf)
    return torch.exp(-2 * d2).mean().log().item()


def main():
    a = Args()
    torch.manual_seed(a.seed)
    train, test = make_data(a, 2), make_data(a, 3)
    loader = DataLoader(TensorDataset(*train), a.batch, shuffle=True, drop_last=True)
    model = Encoder(a)
    opt = torch.optim.AdamW(model.parameters(), lr=a.lr, weight_decay=1e-3)
    total = a.epochs * len(loader)

    def schedule(step):
        if step < a.warmup:
            return (step + 1) / a.warmup
        return 0.5 * (1 + math.cos(math.pi * (step - a.warmup) / max(1, total - a.warmup)))

    sched = torch.optim.lr_scheduler.LambdaLR(opt, schedule)
    best = -math.inf
    for epoch in range(a.epochs):
        losses = []
        for x, _ in loader:
            _, z1 = model(augment(x))
            _, z2 = model(augment(x))
            loss = nt_xent(z1, z2, a.tau)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            sched.step()
            losses.append(loss.item())
        acc = knn_accuracy(model, train, test)
        best = max(best, acc)
        with torch.no_grad():
            u = uniformity(model(train[0])[1])
        print(f"epoch {epoch} nt-xent {sum(losses) / len(losses):.4f} knn {acc:.3f} best {best:.3f} unif {u:.3f}")


if __name__ == "__main__":
    main()
