"""BiLSTM-CRF tagger (BIO scheme) with forbidden transitions."""
import argparse
import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence

TAGS = ["O", "B", "I"]
NEG_INF = float("-inf")


def make_sentence(rnd):
    """tokens 0-9: names open with 1x, continue with 2x; the rest is noise"""
    words, tags = [], []
    while len(words) < rnd.randint(4, 9):
        if rnd.random() < 0.4:
            words.append(10 + rnd.randrange(6)); tags.append(1)
            for _ in range(rnd.randrange(3)):
                words.append(20 + rnd.randrange(6)); tags.append(2)
        else:
            words.append(rnd.choice([rnd.randrange(1, 10), 20 + rnd.randrange(6)])); tags.append(0)
    return torch.tensor(words), torch.tensor(tags)


class CRF(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.k = k
        self.trans = nn.Parameter(0.1 * torch.randn(k, k))
        self.start = nn.Parameter(torch.zeros(k))
        allowed = torch.ones(k, k, dtype=torch.bool)
        allowed[0, 2] = False                        # O -> I
        start_ok = torch.tensor([True, True, False])  # no I at the start
        self.register_buffer("allowed", allowed)
        self.register_buffer("start_ok", start_ok)

    def scores(self):
        trans = self.trans.masked_fill(~self.allowed, NEG_INF)
        start = self.start.masked_fill(~self.start_ok, NEG_INF)
        return trans, start

    def log_partition(self, emit, mask):
        trans, start = self.scores()
        alpha = start + emit[:, 0]
        for t in range(1, emit.size(1)):
            nxt = torch.logsumexp(alpha.unsqueeze(2) + trans, dim=1) + emit[:, t]
            alpha = torch.where(mask[:, t, None], nxt, alpha)
        return torch.logsumexp(alpha, dim=1)

    def path_score(self, emit, tags, mask):
        trans, start = self.scores()
        score = start[tags[:, 0]] + emit[:, 0].gather(1, tags[:, :1]).squeeze(1)
        for t in range(1, emit.size(1)):
            step = trans[tags[:, t - 1], tags[:, t]] + emit[:, t].gather(1, tags[:, t:t + 1]).squeeze(1)
            score = score + torch.where(mask[:, t], step, torch.zeros_like(step))
        return score

    def nll(self, emit, tags, mask):
        return (self.log_partition(emit, mask) - self.path_score(emit, tags, mask)).mean()

    @torch.no_grad()
    def viterbi(self, emit):
        trans, start = self.scores()
        best, back = start + emit[0], []
        for e in emit[1:]:
            best, idx = (best.unsqueeze(1) + trans).max(dim=0)
            best = best + e
            back.append(idx)
        path = [int(best.argmax())]
        for idx in reversed(back):
            path.append(int(idx[path[-1]]))
        return path[::-1]


class Tagger(nn.Module):
    def __init__(self, vocab=26, dim=16):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim, padding_idx=0)
        self.lstm = nn.LSTM(dim, dim, bidirectional=True, batch_first=True)
        self.fc = nn.Linear(2 * dim, len(TAGS))
        self.crf = CRF(len(TAGS))

    def emissions(self, words):
        return self.fc(self.lstm(self.emb(words))[0])


def evaluate(model, data):
    ok = n = 0
    with torch.no_grad():
        for w, t in data:
            pred = model.crf.viterbi(model.emissions(w[None])[0])
            assert all((a, b) != (0, 2) for a, b in zip(pred, pred[1:])), "illegal path"
            ok += sum(p == q for p, q in zip(pred, t.tolist())); n += len(pred)
    return ok / n


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--lr", type=float, default=0.02)
    args = ap.parse_args()
    torch.manual_seed(0); torch.set_num_threads(1)
    rnd = random.Random(0)
    train = [make_sentence(rnd) for _ in range(128)]
    test = [make_sentence(rnd) for _ in range(30)]
    model = Tagger()
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    best = -float("inf")
    for epoch in range(args.epochs):
        rnd.shuffle(train)
        total = 0.0
        for i in range(0, len(train), 16):
            words, tags = (pad_sequence(s, batch_first=True) for s in zip(*train[i:i + 16]))
            mask = words.ne(0)
            loss = model.crf.nll(model.emissions(words), tags, mask)
            opt.zero_grad(); loss.backward(); opt.step()
            total += loss.item() * len(words)
        acc = evaluate(model, test)
        best = max(best, acc)
        print(f"epoch {epoch} nll {total / len(train):.4f} acc {acc:.3f} best {best:.3f}")


if __name__ == "__main__":
    main()
