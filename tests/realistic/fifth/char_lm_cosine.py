"""Tiny character model (GRU) with linear warm-up and cosine decay, bf16 autocast."""
import argparse
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

TEXT = (
    "the quick brown fox jumps over the lazy dog while the small grey cat sleeps near "
    "the warm stove and the rain falls softly on the old tin roof of the little house "
) * 14


def get_batches(ids, seq, batch):
    n = (len(ids) - 1) // seq
    x = ids[: n * seq].view(n, seq)
    y = ids[1: n * seq + 1].view(n, seq)
    for s in range(0, n, batch):
        yield x[s:s + batch], y[s:s + batch]


class CharLM(nn.Module):
    def __init__(self, vocab, dim=48):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab)

    def forward(self, x):
        h, _ = self.rnn(self.emb(x))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            h = self.norm(h + self.ff(h))
            logits = self.head(h)
        return logits.float()


def lr_lambda(warmup, total, floor):
    """Multiplier of the base rate: up linearly, then down a half cosine to the floor."""
    def fn(step):
        if step < warmup:
            return (step + 1) / warmup
        progress = min((step - warmup) / (total - warmup), 1.0)
        return floor + (1.0 - floor) * 0.5 * (1.0 + math.cos(math.pi * progress))
    return fn


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=8)
    ap.add_argument("--decay-epochs", type=int, default=4,
                    help="the rate reaches its floor after so many epochs")
    ap.add_argument("--warmup-steps", type=int, default=40)
    ap.add_argument("--batch", type=int, default=8)
    ap.add_argument("--seq", type=int, default=28)
    ap.add_argument("--lr", type=float, default=3e-3)
    ap.add_argument("--floor", type=float, default=0.05)
    args = ap.parse_args()

    torch.manual_seed(2)
    chars = sorted(set(TEXT))
    lut = {c: i for i, c in enumerate(chars)}
    ids = torch.tensor([lut[c] for c in TEXT])

    windows = (len(ids) - 1) // args.seq
    steps_per_epoch = np.ceil(windows / args.batch)
    total = steps_per_epoch * args.decay_epochs
    print(f"{len(chars)} characters, {steps_per_epoch:.0f} steps per epoch, decay until {total:.0f}")

    model = CharLM(len(chars))
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.01)
    sched = torch.optim.lr_scheduler.LambdaLR(
        opt, lr_lambda(args.warmup_steps, total, args.floor))

    step = 0
    for epoch in range(args.epochs):
        for x, y in get_batches(ids, args.seq, args.batch):
            logits = model(x)
            loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
            opt.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            sched.step()
            step += 1
        print(f"epoch {epoch} step {step} loss {loss.item():.4f} lr {sched.get_last_lr()[0]:.2e}")


if __name__ == "__main__":
    main()
