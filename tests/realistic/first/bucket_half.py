"""Sentence classifier with bucketed batches, weights kept in half precision."""
import argparse
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

PAD = 0


class LayerNorm(nn.Module):
    def __init__(self, dim, eps=1e-8):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.bias = nn.Parameter(torch.zeros(dim))
        self.eps = eps

    def forward(self, x):
        mu = x.mean(dim=-1, keepdim=True)
        var = (x - mu).square().mean(dim=-1, keepdim=True)
        return (x - mu) / torch.sqrt(var + self.eps) * self.weight + self.bias


class Classifier(nn.Module):
    def __init__(self, vocab=60, dim=32, classes=2):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim, padding_idx=PAD)
        self.norm = LayerNorm(dim)
        self.ff = nn.Sequential(nn.Linear(dim, 64), nn.ReLU(), nn.Linear(64, dim))
        self.out = nn.Linear(dim, classes)

    def forward(self, tokens):
        mask = (tokens != PAD).unsqueeze(-1)
        h = self.norm(self.emb(tokens))
        h = h + self.ff(h)
        h = h.masked_fill(~mask, 0.0)
        pooled = h.sum(dim=1) / mask.sum(dim=1).to(h.dtype)
        return self.out(pooled)


def synth(n, seed):
    """label 1 if the sentence has more words from the upper half of the vocabulary"""
    r = random.Random(seed)
    data = []
    for _ in range(n):
        toks = [r.randrange(1, 60) for _ in range(r.randint(5, 9))]
        data.append((toks, int(sum(t >= 30 for t in toks) * 2 > len(toks))))
    return data


def bucket_batches(data, batch_size, max_pad=1):
    """sort by length, then cut; keeps padding small"""
    data = sorted(data, key=lambda d: len(d[0]))
    for i in range(0, len(data), batch_size):
        chunk = data[i:i + batch_size]
        longest = max(len(t) for t, _ in chunk)
        tokens = torch.full((len(chunk), longest), PAD)
        for row, (t, _) in enumerate(chunk):
            tokens[row, :len(t)] = torch.tensor(t)
        yield tokens, torch.tensor([y for _, y in chunk])


def accuracy(model, data):
    hits = total = 0
    with torch.no_grad():
        for tokens, y in bucket_batches(data, 64):
            hits += (model(tokens).argmax(-1) == y).sum().item()
            total += len(y)
    return hits / total


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--batch-size", type=int, default=16)
    ap.add_argument("--lr", type=float, default=0.05)
    ap.add_argument("--seed", type=int, default=0)
    cfg = ap.parse_args()
    torch.manual_seed(cfg.seed)
    torch.set_num_threads(1)

    train, test = synth(320, 0), synth(100, 1)
    model = Classifier().half()
    optim = torch.optim.SGD(model.parameters(), lr=cfg.lr, momentum=0.9)
    warmup = torch.optim.lr_scheduler.LinearLR(optim, start_factor=0.1, total_iters=10)
    for epoch in range(cfg.epochs):
        losses = []
        for tokens, y in bucket_batches(train, cfg.batch_size):
            logits = model(tokens)
            loss = F.cross_entropy(logits.float(), y)
            optim.zero_grad()
            loss.backward()
            optim.step()
            warmup.step()
            losses.append(loss.item())
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f} acc {accuracy(model, test):.3f}")
