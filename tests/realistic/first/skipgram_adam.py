"""Skip-gram with negative sampling and a small from-scratch Adam."""
import argparse
import math
import random
from collections import Counter

import torch
import torch.nn as nn
import torch.nn.functional as F


class Adam:
    """Minimal Adam with bias correction (Kingma & Ba, algorithm 1)."""

    def __init__(self, params, lr=1e-2, betas=(0.9, 0.999)):
        self.params = [p for p in params if p.requires_grad]
        self.lr = lr
        self.b1, self.b2 = betas
        self.t = 0
        self.m = [torch.zeros_like(p) for p in self.params]
        self.v = [torch.zeros_like(p) for p in self.params]

    def zero_grad(self):
        for p in self.params:
            p.grad = None

    @torch.no_grad()
    def step(self):
        self.t += 1
        c1, c2 = 1 - self.b1 ** self.t, 1 - self.b2 ** self.t
        for p, m, v in zip(self.params, self.m, self.v):
            if p.grad is None:
                continue
            m.mul_(self.b1).add_(p.grad, alpha=1 - self.b1)
            v.mul_(self.b2).addcmul_(p.grad, p.grad, value=1 - self.b2)
            p.sub_(self.lr * (m / c1) / (v / c2).sqrt())


class SkipGram(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.center = nn.Embedding(vocab, dim)
        self.context = nn.Embedding(vocab, dim)
        bound = 0.5 / dim
        nn.init.uniform_(self.center.weight, -bound, bound)
        nn.init.uniform_(self.context.weight, -bound, bound)

    def forward(self, c, pos, neg):
        v = self.center(c)
        good = (v * self.context(pos)).sum(-1)
        bad = torch.einsum("bd,bkd->bk", v, self.context(neg))
        return -(F.logsigmoid(good) + F.logsigmoid(-bad).sum(-1)).mean()


def zipf_corpus(vocab, length, seed):
    rnd = random.Random(seed)
    weights = [1 / (r + 1) for r in range(vocab)]
    return rnd.choices(range(vocab), weights=weights, k=length)


def pairs(corpus, window=2):
    out = []
    for i, c in enumerate(corpus):
        for j in range(max(0, i - window), min(len(corpus), i + window + 1)):
            if i != j:
                out.append((c, corpus[j]))
    return torch.tensor(out)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--vocab", type=int, default=400)
    ap.add_argument("--dim", type=int, default=16)
    ap.add_argument("--negatives", type=int, default=4)
    ap.add_argument("--batch", type=int, default=256)
    ap.add_argument("--lr", type=float, default=1e-2)
    args = ap.parse_args()
    torch.manual_seed(2)
    torch.set_num_threads(1)

    corpus = zipf_corpus(args.vocab, 4000, seed=2)
    freq = Counter(corpus)
    noise = torch.tensor([freq.get(i, 0) + 1.0 for i in range(args.vocab)]).pow(0.75)
    data = pairs(corpus)
    data = data[torch.randperm(len(data))]
    model = SkipGram(args.vocab, args.dim)
    opt = Adam(model.parameters(), lr=args.lr)
    total = 0.0
    for i, chunk in enumerate(data.split(args.batch)):
        neg = torch.multinomial(noise, len(chunk) * args.negatives, replacement=True).view(len(chunk), -1)
        loss = model(chunk[:, 0], chunk[:, 1], neg)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
        if (i + 1) % 10 == 0:
            avg = total / 10
            print(f"step {i + 1:3d}  loss {avg:.4f}  per-term {math.exp(-avg / (1 + args.negatives)):.3f}")
            total = 0.0
    w = F.normalize(model.center.weight.detach(), dim=1)
    sims, idx = (w[:5] @ w.T).topk(3, dim=1)
    print("nearest to frequent words:", idx[:, 1:].tolist())


if __name__ == "__main__":
    main()
