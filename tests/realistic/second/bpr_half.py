#!/usr/bin/env python
"""BPR matrix factorisation on implicit feedback. Tables are kept in half precision to save memory."""
import argparse
import time

import numpy as np
import torch
import torch.nn.functional as F

torch.set_num_threads(1)

parser = argparse.ArgumentParser()
parser.add_argument("--users", type=int, default=120)
parser.add_argument("--items", type=int, default=400)
parser.add_argument("--dim", type=int, default=16)
parser.add_argument("--batch", type=int, default=128)
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--lr", type=float, default=1e-2)
parser.add_argument("--fp32", action="store_true", help="keep the tables in float32")
args = parser.parse_args()

rng = np.random.default_rng(17)
torch.manual_seed(17)


def synth_interactions():
    u_lat = rng.normal(size=(args.users, 4))
    i_lat = rng.normal(size=(args.items, 4))
    score = u_lat @ i_lat.T + rng.gumbel(size=(args.users, args.items))
    top = np.argsort(-score, axis=1)[:, :12]
    users = np.repeat(np.arange(args.users), 12)
    return users, top.reshape(-1)


class BPR(torch.nn.Module):
    def __init__(self, n_users, n_items, dim):
        super().__init__()
        self.user = torch.nn.Embedding(n_users, dim)
        self.item = torch.nn.Embedding(n_items, dim)
        for e in (self.user, self.item):
            torch.nn.init.normal_(e.weight, std=0.1)

    def score(self, u, i):
        return (self.user(u) * self.item(i)).sum(-1).float()

    def forward(self, u, pos, neg):
        return self.score(u, pos) - self.score(u, neg)

    @torch.no_grad()
    def recommend(self, u, k):
        return (self.user(u).float() @ self.item.weight.float().T).topk(k, dim=-1).indices


def hit_rate(model, test_u, test_i, k=20):
    rec = model.recommend(test_u, k)
    return (rec == test_i[:, None]).any(1).float().mean().item()


users, items = synth_interactions()
test_mask = np.zeros(len(users), dtype=bool)
test_mask[::12] = True
train_u, train_i = (torch.from_numpy(a[~test_mask]) for a in (users, items))
test_u, test_i = (torch.from_numpy(a[test_mask]) for a in (users, items))

model = BPR(args.users, args.items, args.dim)
if not args.fp32:
    model = model.half()
optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, betas=(0.9, 0.999))

print(f"{len(train_u)} train / {len(test_u)} test interactions, dtype {model.item.weight.dtype}")
for epoch in range(args.epochs):
    start, losses = time.time(), []
    perm = torch.randperm(len(train_u))
    for idx in perm.split(args.batch):
        neg = torch.randint(args.items, (len(idx),))
        diff = model(train_u[idx], train_i[idx], neg)
        loss = -F.logsigmoid(diff).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    hr = hit_rate(model, test_u, test_i)
    print(f"epoch {epoch + 1}/{args.epochs} bpr={np.mean(losses):.4f} HR@20={hr:.3f} ({time.time() - start:.1f}s)")

norms = model.item.weight.float().norm(dim=1)
print(f"item norm: mean {norms.mean():.3f} max {norms.max():.3f}")
