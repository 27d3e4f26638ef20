"""Character LM with an activation penalty, balanced by Dynamic Weight Average (Liu et al. 2019)."""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

TEXT = (
    "the quick brown fox jumps over the lazy dog. "
    "pack my box with five dozen liquor jugs. "
    "how vexingly quick daft zebras jump. "
    "sphinx of black quartz, judge my vow. "
) * 12


class CharLM(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, vocab)

    def forward(self, x):
        h, _ = self.rnn(self.emb(x))
        return self.head(h), h


class DynamicWeightAverage:
    """Weight of task k grows with the ratio of its last two epoch losses."""

    def __init__(self, n_tasks, temperature=2.0):
        self.n = n_tasks
        self.T = temperature
        self.history = []

    def update(self, losses):
        self.history.append(np.asarray(losses, dtype=np.float64))

    def weights(self):
        if len(self.history) < 2:
            return np.ones(self.n)
        ratio = self.history[-1] / self.history[-2]
        e = np.exp(ratio / self.T)
        return self.n * e / e.sum()


def activation_penalty(h, limit):
    """Penalise hidden units that saturate."""
    return F.relu(h.abs() - limit).pow(2).mean()


def batches(ids, seq_len, batch_size, gen):
    starts = torch.randperm(len(ids) - seq_len - 1, generator=gen)
    for chunk in starts[: batch_size * 8].split(batch_size):
        x = torch.stack([ids[s : s + seq_len] for s in chunk])
        y = torch.stack([ids[s + 1 : s + seq_len + 1] for s in chunk])
        yield x, y


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=7)
    parser.add_argument("--dim", type=int, default=32)
    parser.add_argument("--limit", type=float, default=0.95)
    parser.add_argument("--lr", type=float, default=5e-3)
    args = parser.parse_args()

    torch.manual_seed(0)
    torch.set_num_threads(1)
    gen = torch.Generator().manual_seed(0)
    chars = sorted(set(TEXT))
    ids = torch.tensor([chars.index(c) for c in TEXT])
    model = CharLM(len(chars), args.dim)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    dwa = DynamicWeightAverage(2)

    for epoch in range(args.epochs):
        w = dwa.weights()
        sums, count = np.zeros(2), 0
        for x, y in batches(ids, 24, 16, gen):
            logits, h = model(x)
            l_lm = F.cross_entropy(logits.transpose(1, 2), y)
            l_act = activation_penalty(h, args.limit)
            loss = float(w[0]) * l_lm + float(w[1]) * l_act
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            sums += [l_lm.item(), l_act.item()]
            count += 1
        dwa.update(sums / count)
        print(f"epoch {epoch} lm {sums[0] / count:.4f} act {sums[1] / count:.2e} w {w.round(3)} ppl {np.exp(sums[0] / count):.2f}")


if __name__ == "__main__":
    main()
