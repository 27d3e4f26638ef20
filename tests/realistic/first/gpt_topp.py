"""Tiny GPT on arithmetic strings, with top-k / nucleus sampling."""
import argparse
import math
import os
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F

CHARS = "0123456789+=. "
STOI = {c: i for i, c in enumerate(CHARS)}


def make_text(n, seed):
    g = torch.Generator().manual_seed(seed)
    ab = torch.randint(0, 10, (n, 2), generator=g).tolist()
    return torch.tensor([STOI[c] for c in "".join(f"{a}+{b}={a + b:02d}. " for a, b in ab)])


class CausalSelfAttention(nn.Module):
    def __init__(self, dim, heads, block):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)
        mask = torch.full((block, block), float("-inf")).triu(diagonal=1)
        self.register_buffer("mask", mask)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        att = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)) + self.mask[:T, :T]
        return self.proj((att.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Block(nn.Module):
    def __init__(self, dim, heads, block):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = CausalSelfAttention(dim, heads, block)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, vocab, dim=32, heads=2, layers=2, block=32):
        super().__init__()
        self.block = block
        self.tok, self.pos = nn.Embedding(vocab, dim), nn.Embedding(block, dim)
        self.blocks = nn.Sequential(*[Block(dim, heads, block) for _ in range(layers)])
        self.ln, self.head = nn.LayerNorm(dim), nn.Linear(dim, vocab)

    def forward(self, idx):
        x = self.tok(idx) + self.pos(torch.arange(idx.size(1)))
        return self.head(self.ln(self.blocks(x)))


def filter_logits(logits, top_k, top_p):
    if top_k:
        kth = logits.topk(top_k, dim=-1).values[..., -1:]
        logits = logits.masked_fill(logits < kth, -float("inf"))
    if top_p < 1.0:
        srt, order = logits.sort(descending=True, dim=-1)
        cum = srt.softmax(-1).cumsum(-1)
        drop = cum - srt.softmax(-1) > top_p
        logits = logits.masked_fill(drop.scatter(-1, order, drop), -float("inf"))
    return logits


@torch.no_grad()
def generate(model, idx, n, top_k, top_p, temperature=0.8):
    model.eval()
    for _ in range(n):
        logits = model(idx[:, -model.block:])[:, -1] / temperature
        probs = filter_logits(logits, top_k, top_p).softmax(-1)
        idx = torch.cat([idx, torch.multinomial(probs, 1)], dim=1)
    return idx


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=60)
    p.add_argument("--lr", type=float, default=5e-3)
    p.add_argument("--top-k", type=int, default=6)
    p.add_argument("--top-p", type=float, default=0.9)
    a = p.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    train, val = make_text(1000, 0), make_text(60, 1)
    model = GPT(len(CHARS))
    opt = torch.optim.AdamW(model.parameters(), lr=a.lr)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min((s + 1) / 10, 1.0))
    best_val, path = math.inf, os.path.join(tempfile.mkdtemp(), "gpt.pt")
    for step in range(a.steps):
        starts = torch.randint(0, len(train) - 33, (16,))
        batch = torch.stack([train[s:s + 33] for s in starts])
        loss = F.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        opt.zero_grad(); loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step(); sched.step()
        if step % 15 == 14:
            with torch.no_grad():
                v = val[:33 * 12].view(12, 33)
                vl = F.cross_entropy(model(v[:, :-1]).flatten(0, 1), v[:, 1:].flatten()).item()
            print(f"step {step} train {loss.item():.3f} val {vl:.3f}")
            if vl < best_val:
                best_val = vl
                torch.save(model.state_dict(), path)
    model.load_state_dict(torch.load(path))
    out = generate(model, torch.tensor([[STOI["7"]]]), 24, a.top_k, a.top_p)
    print("sample:", "".join(CHARS[i] for i in out[0].tolist()))


if __name__ == "__main__":
    main()
