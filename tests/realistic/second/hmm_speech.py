"""Gradient-based maximum likelihood for a discrete HMM over quantised speech frames."""
import argparse
import random

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)


class Utterances(Dataset):
    """Sequences sampled from a hidden left-to-right source."""

    def __init__(self, n, vocab, max_len, seed):
        g = torch.Generator().manual_seed(seed)
        rng = random.Random(seed)
        self.seqs = []
        emit = torch.softmax(2 * torch.randn(4, vocab, generator=torch.Generator().manual_seed(0)), -1)
        for _ in range(n):
            length = int(min(max_len, 6 + rng.expovariate(1 / 6)))
            state, seq = 0, []
            for _ in range(length):
                seq.append(torch.multinomial(emit[state], 1, generator=g))
                if rng.random() < 0.3:
                    state = (state + 1) % 4
            self.seqs.append(torch.cat(seq))
        self.seqs.sort(key=len)

    def __len__(self):
        return len(self.seqs)

    def __getitem__(self, i):
        return self.seqs[i]


def collate(seqs):
    return pad_sequence(seqs, batch_first=True), torch.tensor([len(s) for s in seqs])


class HMM(nn.Module):
    def __init__(self, n_states, vocab):
        super().__init__()
        self.start = nn.Parameter(torch.randn(n_states) * 0.1)
        self.trans = nn.Parameter(torch.randn(n_states, n_states) * 0.1)
        self.emit = nn.Parameter(torch.randn(n_states, vocab) * 0.1)

    def forward(self, obs, lengths):
        pi = self.start.softmax(-1)
        A = self.trans.softmax(-1)
        B = self.emit.softmax(-1)
        alpha = pi * B[:, obs[:, 0]].T
        for t in range(1, obs.shape[1]):
            nxt = (alpha @ A) * B[:, obs[:, t]].T
            alpha = torch.where((t < lengths).unsqueeze(1), nxt, alpha)
        likelihood = alpha.sum(-1)
        return likelihood.log()


def evaluate(model, loader):
    lp, n = 0.0, 0
    with torch.no_grad():
        for obs, lengths in loader:
            lp += model(obs, lengths).sum().item()
            n += lengths.sum().item()
    return -lp / n


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--states", type=int, default=5)
    parser.add_argument("--vocab", type=int, default=40)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--max-len", type=int, default=48)
    args = parser.parse_args()

    torch.manual_seed(0)
    train = DataLoader(
        Utterances(240, args.vocab, args.max_len, seed=9), args.batch_size, collate_fn=collate
    )
    test = DataLoader(Utterances(40, args.vocab, 24, seed=10), args.batch_size, collate_fn=collate)

    model = HMM(args.states, args.vocab)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        running = []
        for obs, lengths in train:
            logp = model(obs, lengths)
            loss = -(logp / lengths).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            running.append(loss.detach())
        nll = torch.stack(running).mean().item()
        print(f"epoch {epoch}  train nats/frame {nll:.4f}  test {evaluate(model, test):.4f}")
    torch.save(model.state_dict(), "hmm_speech.pt")


if __name__ == "__main__":
    main()
