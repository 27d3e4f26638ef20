"""Two stage face-embedding training: softmax pretraining, then ArcFace with imprinted class centres."""
import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


def synthetic_faces(n_ids, per_id, dim, seed):
    g = torch.Generator().manual_seed(seed)
    base = torch.randn(n_ids, dim, generator=g)
    labels = torch.arange(n_ids).repeat_interleave(per_id)
    x = base[labels] + 0.5 * torch.randn(n_ids * per_id, dim, generator=g)
    return x, labels


class Embedder(nn.Module):
    def __init__(self, d_in, d_emb=16):
        super().__init__()
        self.fc1 = nn.Linear(d_in, 48)
        self.fc2 = nn.Linear(48, d_emb)

    def forward(self, x):
        return F.normalize(self.fc2(torch.tanh(self.fc1(x))), dim=-1)


class ArcFace(nn.Module):
    def __init__(self, centers, s=16.0, m=0.3):
        super().__init__()
        self.weight = nn.Parameter(centers.clone())
        self.s, self.m = s, m

    def forward(self, emb, labels):
        cosine = F.linear(emb, F.normalize(self.weight, dim=-1)).clamp(-1.0, 1.0)
        theta = torch.acos(cosine)
        margin = F.one_hot(labels, cosine.size(1)) * self.m
        logits = self.s * torch.cos(theta + margin)
        return F.cross_entropy(logits, labels)


def imprint(model, x, labels, n_ids):
    """Use the first image of each identity as its centre (one-shot weight imprinting)."""
    model.eval()
    with torch.no_grad():
        emb = model(x)
    first = [int((labels == k).nonzero()[0]) for k in range(n_ids)]
    return emb[first]


def pretrain(model, loader, n_ids, steps, lr):
    head = nn.Linear(16, n_ids, bias=False)
    opt = torch.optim.Adam([*model.parameters(), *head.parameters()], lr=lr)
    it = iter(loader)
    for step in range(steps):
        x, y = next(it)
        loss = F.cross_entropy(8 * head(model(x)), y)
        opt.zero_grad(); loss.backward(); opt.step()
        print(f"[pretrain {step}] {loss.item():.4f}")


def verification_accuracy(model, x, y):
    with torch.no_grad():
        e = model(x)
        sim = e @ e.T
        same = y[:, None] == y[None, :]
        off = ~torch.eye(len(y), dtype=torch.bool)
        return ((sim > 0.5) == same)[off].float().mean().item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--ids", type=int, default=12)
    p.add_argument("--per-id", type=int, default=12)
    p.add_argument("--pretrain-steps", type=int, default=4)
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--lr", type=float, default=2e-3)
    args = p.parse_args()
    torch.manual_seed(4)
    torch.set_num_threads(1)

    x, y = synthetic_faces(args.ids, args.per_id, 32, seed=0)
    loader = DataLoader(TensorDataset(x, y), batch_size=36, shuffle=True)
    model = Embedder(32)
    pretrain(model, loader, args.ids, args.pretrain_steps, args.lr)

    arc = ArcFace(imprint(model, x, y, args.ids))
    opt = torch.optim.SGD([{"params": model.parameters()}, {"params": arc.parameters(), "lr": 0.5 * args.lr}],
                          lr=args.lr, momentum=0.9)
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for xb, yb in loader:
            loss = arc(model(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch} arc loss {total / len(loader):.4f} verification {verification_accuracy(model, x, y):.3f}")


if __name__ == "__main__":
    main()
