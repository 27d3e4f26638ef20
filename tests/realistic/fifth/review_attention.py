"""Sentiment of short reviews with a single self-attention block, length-bucketed."""
import math
import random

import torch
import torch.nn as nn

VOCAB, PAD, MAX_LEN = 200, 0, 20
POSITIVE = set(range(10, 40))
NEGATIVE = set(range(40, 70))


def make_reviews(n, rng):
    data = []
    for _ in range(n):
        label = rng.random() < 0.5
        length = min(MAX_LEN, int(rng.gauss(24, 9)))
        length = max(length, 4)
        pool = sorted(POSITIVE if label else NEGATIVE)
        toks = [rng.choice(pool) if rng.random() < 0.25 else rng.randrange(70, VOCAB)
                for _ in range(length)]
        data.append((toks, int(label)))
    return data


def bucket_batches(data, size):
    """Longest first, so that an out-of-memory shows up in the first batch."""
    order = sorted(range(len(data)), key=lambda i: -len(data[i][0]))
    for s in range(0, len(order), size):
        chunk = [data[i] for i in order[s:s + size]]
        width = max(len(t) for t, _ in chunk)
        ids = torch.full((len(chunk), width), PAD)
        for r, (toks, _) in enumerate(chunk):
            ids[r, :len(toks)] = torch.tensor(toks)
        yield ids, torch.tensor([y for _, y in chunk])


class SelfAttention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)
        self.v = nn.Linear(dim, dim)
        self.scale = 1.0 / math.sqrt(dim)

    def forward(self, x, pad):
        q, k, v = self.q(x), self.k(x), self.v(x)
        scores = torch.einsum("bqd,bkd->bqk", q, k) * self.scale
        scores = scores.masked_fill(pad[:, None, :], float("-inf"))
        attn = torch.softmax(scores, dim=1)
        return torch.einsum("bqk,bkd->bqd", attn, v)


class Classifier(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.pos = nn.Parameter(torch.randn(MAX_LEN, dim) * 0.02)
        self.attn = SelfAttention(dim)
        self.norm = nn.LayerNorm(dim)
        self.out = nn.Linear(dim, 2)

    def forward(self, ids):
        pad = ids.eq(PAD)
        x = self.tok(ids) + self.pos[: ids.size(1)]
        x = self.norm(x + self.attn(x, pad))
        keep = (~pad).unsqueeze(-1).float()
        pooled = (x * keep).sum(1) / keep.sum(1)
        return self.out(pooled)


def main():
    torch.manual_seed(0)
    rng = random.Random(0)
    train, test = make_reviews(800, rng), make_reviews(200, rng)
    model = Classifier()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    sched = torch.optim.lr_scheduler.StepLR(opt, step_size=2, gamma=0.5)
    loss_fn = nn.CrossEntropyLoss(label_smoothing=0.05)

    for epoch in range(4):
        model.train()
        losses = []
        for ids, y in bucket_batches(train, 32):
            loss = loss_fn(model(ids), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        sched.step()
        model.eval()
        with torch.no_grad():
            hits = sum((model(ids).argmax(1) == y).sum().item()
                       for ids, y in bucket_batches(test, 64))
        print(f"epoch {epoch} first {losses[0]:.3f} last {losses[-1]:.3f} acc {hits / len(test):.3f}")


if __name__ == "__main__":
    main()
