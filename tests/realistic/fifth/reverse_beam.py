"""Sequence reversal with a small decoder-only transformer and constrained beam search."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

PAD, BOS, SEP, EOS, FIRST, VOCAB = 0, 1, 2, 3, 4, 14
MIN_L, MAX_L = 2, 5
WIDTH = 2 * MAX_L + 3


def sample_batch(n, gen):
    ids = torch.full((n, WIDTH), PAD)
    lengths = torch.randint(MIN_L, MAX_L + 1, (n,), generator=gen)
    for i, k in enumerate(lengths.tolist()):
        w = torch.randint(FIRST, VOCAB, (k,), generator=gen)
        seq = torch.cat([torch.tensor([BOS]), w, torch.tensor([SEP]), w.flip(0), torch.tensor([EOS])])
        ids[i, : len(seq)] = seq
    return ids, lengths


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.h = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.o = nn.Linear(dim, dim)
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.ff = nn.Sequential(nn.Linear(dim, 3 * dim), nn.GELU(), nn.Linear(3 * dim, dim))

    def forward(self, x, mask):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.h, d // self.h).permute(2, 0, 3, 1, 4)
        score = q @ k.transpose(-1, -2) / math.sqrt(d // self.h) + mask
        x = x + self.o((score.softmax(-1) @ v).transpose(1, 2).reshape(b, t, d))
        return x + self.ff(self.n2(x))


class Decoder(nn.Module):
    def __init__(self, dim=48, heads=4, layers=2):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, dim)
        self.pos = nn.Embedding(WIDTH, dim)
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(dim)
        nn.init.normal_(self.tok.weight, std=0.1)
        nn.init.normal_(self.pos.weight, std=0.1)

    def forward(self, ids):
        t = ids.size(1)
        causal = torch.full((t, t), float("-inf")).triu(1)
        # BOS is never padding, so every query has at least one key
        pad = torch.zeros(ids.shape).masked_fill(ids == PAD, float("-inf"))
        mask = causal[None, None] + pad[:, None, None, :]
        x = self.tok(ids) + self.pos.weight[:t]
        for blk in self.blocks:
            x = blk(x, mask)
        return self.norm(x) @ self.tok.weight.t()


@torch.no_grad()
def beam_search(model, prompt, steps, k=3):
    beams = prompt.repeat(k, 1)
    scores = torch.full((k,), float("-inf"))
    scores[0] = 0.0
    for _ in range(steps):
        logp = F.log_softmax(model(beams)[:, -1], dim=-1)
        logp[:, [PAD, BOS, SEP]] = float("-inf")
        done = beams[:, -1] == EOS
        logp[done] = float("-inf")
        logp[done, EOS] = 0.0
        total = (scores[:, None] + logp).flatten()
        scores, flat = total.topk(k)
        beams = torch.cat([beams[flat // VOCAB], (flat % VOCAB)[:, None]], dim=1)
    return beams[0], scores


def main():
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(0)
    model = Decoder()
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=3e-3, total_steps=250)
    for step in range(250):
        ids, _ = sample_batch(48, gen)
        logits = model(ids[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), ignore_index=PAD)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        if step % 50 == 0:
            print(f"step {step} loss {loss.item():.4f}")
    ids, lengths = sample_batch(8, gen)
    right = 0
    for row, k in zip(ids, lengths.tolist()):
        out, scores = beam_search(model, row[None, : k + 2], k + 1)
        right += int(torch.equal(out, row[: 2 * k + 3]))
    print(f"final loss {loss.item():.4f}, exact {right}/8, last beam scores {scores.tolist()}")


if __name__ == "__main__":
    main()
