"""Transformer seq2seq (sort the digits) with label smoothing and beam search."""
import argparse
import math
import random
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

PAD, BOS, EOS, OFF = 0, 1, 2, 3


@dataclass
class HP:
    dim: int = 32
    heads: int = 2
    steps: int = 60
    batch: int = 24
    lr: float = 5e-3
    smoothing: float = 0.1
    beam: int = 3


def sample_batch(rnd, n):
    src, tgt = [], []
    for _ in range(n):
        s = [rnd.randrange(10) + OFF for _ in range(rnd.randint(2, 6))]
        src.append(torch.tensor(s + [EOS]))
        tgt.append(torch.tensor([BOS] + sorted(s) + [EOS]))
    return pad_sequence(src, batch_first=True), pad_sequence(tgt, batch_first=True)


class Model(nn.Module):
    def __init__(self, hp, vocab=13, max_len=10):
        super().__init__()
        self.emb = nn.Embedding(vocab, hp.dim, padding_idx=PAD)
        self.pos = nn.Parameter(0.1 * torch.randn(max_len, hp.dim))
        self.tf = nn.Transformer(hp.dim, hp.heads, 1, 1, 4 * hp.dim, dropout=0.0, batch_first=True)
        self.out = nn.Linear(hp.dim, vocab)

    def embed(self, x):
        return self.emb(x) * math.sqrt(self.pos.size(1)) + self.pos[: x.size(1)]

    def forward(self, src, tgt):
        T = tgt.size(1)
        causal = torch.triu(torch.full((T, T), -math.inf), diagonal=1)
        pad = torch.zeros(src.shape).masked_fill(src == PAD, -math.inf)
        h = self.tf(self.embed(src), self.embed(tgt), tgt_mask=causal,
                    src_key_padding_mask=pad, memory_key_padding_mask=pad)
        return self.out(h)


def smoothed_loss(logits, target, eps):
    logp = F.log_softmax(logits, dim=-1)
    nll = -logp.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    smooth = -logp.mean(dim=-1)
    mask = target != PAD
    return ((1 - eps) * nll + eps * smooth)[mask].mean()


@torch.no_grad()
def beam_search(model, src, k, max_len=9):
    seqs = torch.full((k, 1), BOS)
    scores = torch.full((k,), -math.inf)
    scores[0] = 0.0
    finished = torch.zeros(k, dtype=torch.bool)
    src = src.expand(k, -1)
    for _ in range(max_len):
        logp = F.log_softmax(model(src, seqs)[:, -1], dim=-1)
        logp[:, [PAD, BOS]] = -math.inf
        logp[finished] = -math.inf
        logp[finished, PAD] = 0.0
        total = scores[:, None] + logp
        scores, flat = total.flatten().topk(k)
        origin, token = flat // logp.size(1), flat % logp.size(1)
        seqs = torch.cat([seqs[origin], token[:, None]], dim=1)
        finished = finished[origin] | (token == EOS)
        if finished.all():
            break
    length = (seqs != PAD).sum(1).float()
    return seqs[(scores / length).argmax()]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--seed", type=int, default=0)
    seed = ap.parse_args().seed
    hp = HP()
    random.seed(seed); torch.manual_seed(seed); torch.set_num_threads(1)
    rnd = random.Random(seed)
    model = Model(hp)
    opt = torch.optim.Adam(model.parameters(), lr=hp.lr, betas=(0.9, 0.98))
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, hp.lr, total_steps=hp.steps)
    best = math.inf
    for step in range(hp.steps):
        model.train()
        src, tgt = sample_batch(rnd, hp.batch)
        loss = smoothed_loss(model(src, tgt[:, :-1]), tgt[:, 1:], hp.smoothing)
        opt.zero_grad(); loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step(); sched.step()
        best = min(best, loss.item())
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f} best {best:.4f}")
    model.eval()
    for _ in range(3):
        src, tgt = sample_batch(rnd, 1)
        hyp = beam_search(model, src, hp.beam)
        show = lambda t: [x - OFF for x in t.tolist() if x >= OFF]
        print("src", show(src[0]), "hyp", show(hyp), "ref", show(tgt[0]))


if __name__ == "__main__":
    main()
