"""SimCLR-like pretraining on vectors: NT-Xent with an annealed temperature, linear probe."""
import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def make_data(n, dim, classes, gen):
    centers = torch.randn(classes, dim, generator=gen)
    y = torch.randint(0, classes, (n,), generator=gen)
    return centers[y] + 0.8 * torch.randn(n, dim, generator=gen), y


def augment(x, noise=0.5, drop=0.2):
    keep = (torch.rand_like(x) > drop).float()
    return (x + noise * torch.randn_like(x)) * keep


class Encoder(nn.Module):
    def __init__(self, dim, hidden=96, out=32):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(dim, hidden), nn.BatchNorm1d(hidden), nn.ReLU(),
                                      nn.Linear(hidden, hidden), nn.ReLU())
        self.head = nn.Linear(hidden, out)

    def forward(self, x):
        return F.normalize(self.head(self.backbone(x)), dim=1)


def nt_xent(z1, z2, temp):
    z = torch.cat([z1, z2])
    n = len(z1)
    sim = z @ z.t()
    expsim = torch.exp(sim / temp)
    off_diag = 1.0 - torch.eye(2 * n)
    denom = (expsim * off_diag).sum(dim=1)
    pos = torch.cat([sim.diagonal(n), sim.diagonal(-n)]) / temp
    return (denom.log() - pos).mean()


def temperature(step, total, start, end):
    """Cosine from start to end."""
    c = 0.5 * (1.0 + math.cos(math.pi * step / total))
    return end + (start - end) * c


def linear_probe(enc, x, y, xt, yt, classes):
    enc.eval()
    with torch.no_grad():
        f, ft = enc.backbone(x), enc.backbone(xt)
    enc.train()
    probe = nn.Linear(f.size(1), classes)
    opt = torch.optim.Adam(probe.parameters(), lr=1e-2)
    for _ in range(60):
        loss = F.cross_entropy(probe(f), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return (probe(ft).argmax(1) == yt).float().mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=300)
    ap.add_argument("--batch", type=int, default=64)
    ap.add_argument("--temp-start", type=float, default=0.3)
    ap.add_argument("--temp-end", type=float, default=0.01)
    ap.add_argument("--lr", type=float, default=1e-3)
    args = ap.parse_args()

    torch.manual_seed(31)
    gen = torch.Generator().manual_seed(31)
    centers_x, centers_y = make_data(1500, 40, 8, gen)
    x, y, xt, yt = centers_x[:1000], centers_y[:1000], centers_x[1000:], centers_y[1000:]
    enc = Encoder(40)
    opt = torch.optim.AdamW(enc.parameters(), lr=args.lr, weight_decay=1e-4)
    print("probe before", linear_probe(enc, x, y, xt, yt, 8))

    for step in range(args.steps):
        idx = torch.randint(0, len(x), (args.batch,))
        temp = temperature(step, args.steps, args.temp_start, args.temp_end)
        loss = nt_xent(enc(augment(x[idx])), enc(augment(x[idx])), temp)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 50 == 0:
            print(f"step {step} temp {temp:.4f} loss {loss.item():.4f}")
    print("probe after", linear_probe(enc, x, y, xt, yt, 8))


if __name__ == "__main__":
    main()
