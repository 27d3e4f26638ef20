"""Reverse-the-sentence translation with additive word dropout and Luong attention."""
import argparse
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

PAD, BOS, EOS = 0, 1, 2
VOCAB = 30


def make_corpus(n, seed):
    rnd = random.Random(seed)
    pairs = []
    for _ in range(n):
        src = [rnd.randrange(3, VOCAB) for _ in range(rnd.randint(2, 7))]
        pairs.append((src, src[::-1]))
    return pairs


class WordDropout:
    def __init__(self, p, seed):
        self.p = p
        self.rnd = random.Random(seed)

    def __call__(self, words):
        return [w for w in words if self.rnd.random() >= self.p]


def collate(pairs, dropout=None):
    src, tgt_in, tgt_out = [], [], []
    for s, t in pairs:
        if dropout is not None:
            s = dropout(s)
        src.append(torch.tensor(s, dtype=torch.long))
        tgt_in.append(torch.tensor([BOS] + t))
        tgt_out.append(torch.tensor(t + [EOS]))
    return tuple(pad_sequence(x, batch_first=True, padding_value=PAD) for x in (src, tgt_in, tgt_out))


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.w = nn.Linear(dim, dim, bias=False)
        self.out = nn.Linear(2 * dim, dim)

    def forward(self, query, memory, src_mask):
        scores = self.w(query) @ memory.transpose(1, 2)
        scores = scores.masked_fill(~src_mask[:, None, :], float("-inf"))
        attn = F.softmax(scores, dim=-1)
        return torch.tanh(self.out(torch.cat([attn @ memory, query], dim=-1)))


class Seq2Seq(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.enc = nn.GRU(dim, dim, batch_first=True)
        self.dec = nn.GRU(dim, dim, batch_first=True)
        self.attn = Attention(dim)
        self.proj = nn.Linear(dim, VOCAB)

    def forward(self, src, tgt_in):
        memory, h = self.enc(self.emb(src))
        dec, _ = self.dec(self.emb(tgt_in), h)
        return self.proj(self.attn(dec, memory, src.ne(PAD)))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--batch", type=int, default=16)
    ap.add_argument("--lr", type=float, default=4e-3)
    ap.add_argument("--word-dropout", type=float, default=0.1)
    ap.add_argument("--seed", type=int, default=1)
    a = ap.parse_args()
    torch.manual_seed(a.seed)
    torch.set_num_threads(1)

    drop = WordDropout(a.word_dropout, a.seed)
    train = DataLoader(make_corpus(320, 0), a.batch, shuffle=True, collate_fn=lambda b: collate(b, drop))
    valid = DataLoader(make_corpus(64, 1), 64, collate_fn=collate)
    model = Seq2Seq()
    opt = torch.optim.Adam(model.parameters(), lr=a.lr)
    criterion = nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=0.1)

    step = 0
    for epoch in range(a.epochs):
        model.train()
        for src, tgt_in, tgt_out in train:
            logits = model(src, tgt_in)
            loss = criterion(logits.flatten(0, 1), tgt_out.flatten())
            opt.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            step += 1
            if step % 10 == 0:
                print(f"step {step} loss {loss.item():.3f}")
        model.eval()
        with torch.no_grad():
            src, tgt_in, tgt_out = next(iter(valid))
            pred = model(src, tgt_in).argmax(-1)
            mask = tgt_out.ne(PAD)
            print(f"epoch {epoch}: token accuracy {(pred[mask] == tgt_out[mask]).float().mean():.3f}")


if __name__ == "__main__":
    main()
