"""SimCLR on toy images with NT-Xent and LARS, linear probe at the end."""
import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.optimizer import Optimizer
from torch.utils.data import DataLoader, Dataset


class LARS(Optimizer):
    def __init__(self, params, lr, momentum=0.9, weight_decay=1e-4, trust=0.02):
        super().__init__(params, dict(lr=lr, momentum=momentum, weight_decay=weight_decay, trust=trust))

    @torch.no_grad()
    def step(self):
        for g in self.param_groups:
            for p in g["params"]:
                if p.grad is None:
                    continue
                d = p.grad
                if p.ndim > 1:
                    d = d.add(p, alpha=g["weight_decay"])
                    wn, gn = p.norm(), d.norm()
                    ratio = torch.where((wn > 0) & (gn > 0), g["trust"] * wn / gn, torch.ones_like(wn))
                    d = d * ratio
                buf = self.state[p].setdefault("momentum_buffer", torch.zeros_like(p))
                buf.mul_(g["momentum"]).add_(d)
                p.add_(buf, alpha=-g["lr"])


class Pairs(Dataset):
    """Two augmented views of a class-dependent texture"""

    def __init__(self, n, seed, size=12):
        g = torch.Generator().manual_seed(seed)
        self.y = torch.randint(0, 4, (n,), generator=g)
        grid = torch.linspace(0, 2 * math.pi, size)
        ang = self.y * math.pi / 4
        phase = grid[None, :, None] * ang.cos()[:, None, None] + grid[None, None, :] * ang.sin()[:, None, None]
        self.x = torch.sin(3 * phase).unsqueeze(1)

    def augment(self, img):
        img = img * (0.6 + 0.8 * torch.rand(1)) + 0.2 * torch.randn_like(img)
        return img.roll(int(torch.randint(0, 3, (1,))), dims=-1)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.augment(self.x[i]), self.augment(self.x[i]), self.y[i]


class Net(nn.Module):
    def __init__(self, ch=16):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, ch, 3, stride=2), nn.BatchNorm2d(ch), nn.ReLU(),
            nn.Conv2d(ch, 2 * ch, 3), nn.BatchNorm2d(2 * ch), nn.ReLU(),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        )
        self.projector = nn.Sequential(nn.Linear(2 * ch, 32), nn.ReLU(), nn.Linear(32, 16))
        nn.init.zeros_(self.projector[-1].bias)

    def forward(self, x):
        return self.projector(self.encoder(x))


def nt_xent(z1, z2, tau):
    z = F.normalize(torch.cat([z1, z2]), dim=1)
    sim = z @ z.T / tau
    sim.fill_diagonal_(float("-inf"))
    n = len(z1)
    target = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return F.cross_entropy(sim, target)


def nearest_neighbour_acc(model, ds):
    model.eval()
    with torch.no_grad():
        h = F.normalize(model.encoder(torch.stack([ds.augment(x) for x in ds.x])), dim=1)
    sim = h @ h.T - torch.diag(torch.full((len(h),), math.inf))
    model.train()
    return (ds.y[sim.nan_to_num(nan=0.0, neginf=-math.inf).argmax(1)] == ds.y).float().mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--lr", type=float, default=0.5)
    ap.add_argument("--tau", type=float, default=0.3)
    args = ap.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    train, test = Pairs(256, 0), Pairs(80, 1)
    loader = DataLoader(train, batch_size=32, shuffle=True, drop_last=True)
    model = Net()
    opt = LARS(model.parameters(), lr=args.lr)
    warm = torch.optim.lr_scheduler.LinearLR(opt, 0.1, total_iters=8)
    best = float("inf")
    for epoch in range(args.epochs):
        total = 0.0
        for a, b, _ in loader:
            loss = nt_xent(model(a), model(b), args.tau)
            opt.zero_grad(); loss.backward(); opt.step(); warm.step()
            total += loss.item()
        best = min(best, total / len(loader))
        print(f"epoch {epoch} nt-xent {total / len(loader):.4f} best {best:.4f} 1-nn acc {nearest_neighbour_acc(model, test):.3f}")


if __name__ == "__main__":
    main()
