"""Image retrieval with generalised-mean (GeM) pooling and a triplet loss."""
import argparse
from itertools import islice

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, IterableDataset

torch.set_num_threads(1)


class TripletStream(IterableDataset):
    """Random textured patches; anchor and positive share the texture."""

    def __init__(self, classes, size, seed):
        self.classes, self.size, self.seed = classes, size, seed
        g = torch.Generator().manual_seed(0)
        self.patterns = torch.randn(classes, 3, size, size, generator=g)

    def __iter__(self):
        g = torch.Generator().manual_seed(self.seed)
        while True:
            a, n = torch.randperm(self.classes, generator=g)[:2].tolist()
            view = lambda c: self.patterns[c] + 0.8 * torch.randn(3, self.size, self.size, generator=g)
            yield view(a), view(a), view(n), a


class GeM(nn.Module):
    def __init__(self, p=3.0):
        super().__init__()
        self.p = nn.Parameter(torch.tensor(p))

    def forward(self, x):
        return x.pow(self.p).mean(dim=(-2, -1)).pow(1.0 / self.p)


class RetrievalNet(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(),
            nn.Conv2d(12, 24, 3, padding=1), nn.BatchNorm2d(24), nn.SiLU(),
        )
        self.pool = GeM()
        self.fc = nn.Linear(24, dim)

    def forward(self, img):
        return F.normalize(self.fc(self.pool(self.features(img))), dim=1)


def train_steps(model, loader, opt, n):
    model.train()
    for step, (a, p, neg, _) in enumerate(islice(loader, n)):
        ea, ep, en = model(torch.cat([a, p, neg])).chunk(3)
        loss = F.triplet_margin_loss(ea, ep, en, margin=0.4)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 5 == 0:
            print(f"  step {step:3d} triplet {loss.item():.4f} p={model.pool.p.item():.3f}")


@torch.no_grad()
def map_at_1(model, loader, batches=3):
    model.eval()
    hits = total = 0
    for a, p, _, cls in islice(loader, batches):
        sim = model(a) @ model(p).T
        hits += (cls[sim.argmax(1)] == cls).sum().item()
        total += len(cls)
    return hits / total


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--classes", type=int, default=10)
    ap.add_argument("--size", type=int, default=10)
    ap.add_argument("--batch", type=int, default=16)
    ap.add_argument("--rounds", type=int, default=2)
    ap.add_argument("--steps", type=int, default=15)
    ap.add_argument("--lr", type=float, default=2e-3)
    args = ap.parse_args()

    torch.manual_seed(77)
    train = DataLoader(TripletStream(args.classes, args.size, 1), batch_size=args.batch)
    test = DataLoader(TripletStream(args.classes, args.size, 2), batch_size=args.batch)
    model = RetrievalNet()
    opt = torch.optim.Adam([
        {"params": [*model.features.parameters(), *model.fc.parameters()]},
        {"params": model.pool.parameters(), "lr": 10 * args.lr},
    ], lr=args.lr)
    for r in range(args.rounds):
        train_steps(model, train, opt, args.steps)
        print(f"round {r}: P@1 {map_at_1(model, test):.3f}")


if __name__ == "__main__":
    main()
