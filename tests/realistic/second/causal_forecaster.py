"""Decoder-only transformer for multi-series demand forecasting with ragged histories."""
import argparse
import copy
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)


class Demand(Dataset):
    def __init__(self, n, max_len, seed):
        g = torch.Generator().manual_seed(seed)
        self.items = []
        for _ in range(n):
            length = int(torch.randint(6, max_len + 1, (1,), generator=g))
            phase, amp = torch.rand(2, generator=g)
            t = torch.arange(length, dtype=torch.float32)
            self.items.append((1 + amp) * torch.sin(0.6 * t + 6 * phase) + 0.1 * torch.randn(length, generator=g))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def left_pad(seqs):
    n = max(map(len, seqs))
    x, pad = torch.zeros(len(seqs), n), torch.ones(len(seqs), n, dtype=torch.bool)
    for i, s in enumerate(seqs):
        x[i, n - len(s):] = s
        pad[i, n - len(s):] = False
    return x, pad


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.h = heads
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.ff = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))

    def forward(self, x, bias):
        b, n, d = x.shape
        q, k, v = (t.view(b, n, self.h, -1).transpose(1, 2) for t in self.qkv(self.n1(x)).chunk(3, -1))
        w = (q @ k.mT / math.sqrt(d // self.h) + bias).softmax(-1)
        x = x + self.proj((w @ v).transpose(1, 2).reshape(b, n, d))
        return x + self.ff(self.n2(x))


class Forecaster(nn.Module):
    def __init__(self, d=16, depth=2, max_len=32):
        super().__init__()
        self.inp, self.pos = nn.Linear(1, d), nn.Parameter(torch.randn(max_len, d) * 0.02)
        self.blocks = nn.ModuleList(Block(d, 2) for _ in range(depth))
        self.out = nn.Linear(d, 1)

    def forward(self, x, pad):
        n = x.shape[1]
        bias = torch.full((n, n), float("-inf")).triu(1)
        bias = bias + torch.zeros(x.shape[0], 1, 1, n).masked_fill_(pad[:, None, None, :], float("-inf"))
        # a padded query may always look at itself
        eye = torch.eye(n, dtype=torch.bool)
        bias = bias.masked_fill(pad[:, None, :, None] & eye, 0.0)
        h = self.inp(x.unsqueeze(-1)) + self.pos[-n:]
        for blk in self.blocks:
            h = blk(h, bias)
        return self.out(h).squeeze(-1)


def loss_fn(model, x, pad):
    pred = model(x[:, :-1], pad[:, :-1])
    err = (pred - x[:, 1:]).square()
    keep = ~(pad[:, :-1] | pad[:, 1:])
    return err.masked_select(keep).mean()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=10)
    ap.add_argument("--patience", type=int, default=2)
    ap.add_argument("--lr", type=float, default=4e-3)
    args = ap.parse_args()
    torch.manual_seed(0)
    train = DataLoader(Demand(160, 18, 1), 32, shuffle=True, collate_fn=left_pad)
    val = DataLoader(Demand(48, 18, 2), 48, collate_fn=left_pad)
    model = Forecaster()
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=1)
    best, best_state, stale = math.inf, None, 0
    for epoch in range(args.epochs):
        model.train()
        for x, pad in train:
            opt.zero_grad()
            loss_fn(model, x, pad).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
        model.eval()
        with torch.no_grad():
            score = sum(loss_fn(model, *b).item() for b in val) / len(val)
        plateau.step(score)
        stale = 0 if score < best - 1e-4 else stale + 1
        if score < best:
            best, best_state = score, copy.deepcopy(model.state_dict())
        print(f"epoch {epoch} val {score:.4f} best {best:.4f} stale {stale}")
        if stale > args.patience:
            break
    model.load_state_dict(best_state)
    torch.save(best_state, "causal_forecaster.pt")
    assert math.isfinite(best)


if __name__ == "__main__":
    main()
