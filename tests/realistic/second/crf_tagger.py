"""Linear-chain CRF for BIO tagging with hard transition constraints and Viterbi decoding."""
import argparse
import random

import torch
from torch import nn

torch.set_num_threads(1)

TAGS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]


def allowed(prev, cur):
    return not cur.startswith("I-") or (prev != "O" and prev[2:] == cur[2:])


def sample_sentence(rng):
    words, tags = [], []
    for _ in range(rng.randint(3, 6)):
        kind = rng.choice(["O", "O", "PER", "LOC"])
        if kind == "O":
            words.append(rng.randrange(0, 20))
            tags.append("O")
        else:
            base = 20 if kind == "PER" else 30
            for k in range(rng.randint(1, 3)):
                words.append(base + rng.randrange(10))
                tags.append(("B-" if k == 0 else "I-") + kind)
    return torch.tensor(words), torch.tensor([TAGS.index(t) for t in tags])


class CRF(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.trans = nn.Parameter(torch.zeros(k, k))
        self.start = nn.Parameter(torch.zeros(k))
        ok = torch.tensor([[allowed(p, c) for c in TAGS] for p in TAGS])
        self.register_buffer("forbidden", ~ok)
        self.register_buffer("bad_start", torch.tensor([t.startswith("I-") for t in TAGS]))

    def scores(self):
        neg = float("-inf")
        return self.trans.masked_fill(self.forbidden, neg), self.start.masked_fill(self.bad_start, neg)

    def nll(self, emit, tags):
        trans, start = self.scores()
        alpha = start + emit[0]
        gold = start[tags[0]] + emit[0, tags[0]]
        for t in range(1, len(emit)):
            alpha = torch.logsumexp(alpha.unsqueeze(1) + trans, dim=0) + emit[t]
            gold = gold + trans[tags[t - 1], tags[t]] + emit[t, tags[t]]
        return torch.logsumexp(alpha, dim=0) - gold

    @torch.no_grad()
    def decode(self, emit):
        trans, start = self.scores()
        v, back = start + emit[0], []
        for e in emit[1:]:
            best, arg = (v.unsqueeze(1) + trans).max(0)
            v = best + e
            back.append(arg)
        path = [int(v.argmax())]
        for arg in reversed(back):
            path.append(int(arg[path[-1]]))
        return path[::-1], v.max().item()


class Tagger(nn.Module):
    def __init__(self, vocab, k, d=16):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.rnn = nn.GRU(d, d, bidirectional=True, batch_first=True)
        self.out = nn.Linear(2 * d, k)
        self.crf = CRF(k)

    def emissions(self, words):
        h, _ = self.rnn(self.emb(words)[None])
        return self.out(h[0])


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--train", type=int, default=40)
    ap.add_argument("--lr", type=float, default=2e-2)
    args = ap.parse_args()
    rng = random.Random(0)
    torch.manual_seed(0)
    train = [sample_sentence(rng) for _ in range(args.train)]
    test = [sample_sentence(rng) for _ in range(20)]
    model = Tagger(40, len(TAGS))
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        rng.shuffle(train)
        total = 0.0
        for i in range(0, len(train), 4):
            loss = torch.stack([model.crf.nll(model.emissions(w), t) for w, t in train[i : i + 4]]).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        model.eval()
        hits = n = 0
        for w, t in test:
            path, score = model.crf.decode(model.emissions(w))
            assert score > float("-inf")
            hits += sum(a == b for a, b in zip(path, t.tolist()))
            n += len(path)
        model.train()
        print(f"epoch {epoch} nll {total / (len(train) / 4):.4f} test token acc {hits / n:.3f}")


if __name__ == "__main__":
    main()
