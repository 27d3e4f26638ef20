"""Left-to-right HMM with Gaussian emissions, fitted by gradient descent in log space."""
import math

import numpy as np
import torch
import torch.nn as nn

NEG_INF = float("-inf")


def gestures(n, seed=35):
    """Sequences run through 4 phases of random durations; lengths differ."""
    rng = np.random.default_rng(seed)
    means = np.array([[0, 0], [2, 0], [2, 2], [0, 2]], dtype=float)
    seqs, states = [], []
    for _ in range(n):
        dur = rng.integers(3, 12, size=4)
        s = np.repeat(np.arange(4), dur)
        seqs.append(torch.tensor(means[s] + 0.6 * rng.normal(size=(len(s), 2)), dtype=torch.float32))
        states.append(torch.from_numpy(s))
    return seqs, states


def pad(seqs):
    lengths = torch.tensor([len(s) for s in seqs])
    return nn.utils.rnn.pad_sequence(seqs, batch_first=True), lengths


class LeftRightHMM(nn.Module):
    def __init__(self, k, dim):
        super().__init__()
        self.start = nn.Parameter(torch.tensor([3.0] + [0.0] * (k - 1)))
        self.trans = nn.Parameter(torch.zeros(k, k) + 1.5 * torch.eye(k))
        self.mean = nn.Parameter(torch.randn(k, dim) * 0.5 + 1.0)
        self.log_std = nn.Parameter(torch.zeros(k, dim))
        i, j = torch.meshgrid(torch.arange(k), torch.arange(k), indexing="ij")
        # stay or go one phase on, everything else is impossible
        self.register_buffer("forbidden", (j < i) | (j > i + 1))

    def log_trans(self):
        return self.trans.masked_fill(self.forbidden, NEG_INF).log_softmax(dim=1)

    def emission(self, x):
        z = (x.unsqueeze(-2) - self.mean) * torch.exp(-self.log_std)
        return (-0.5 * z.pow(2) - self.log_std - 0.5 * math.log(2 * math.pi)).sum(-1)

    def log_likelihood(self, x, lengths):
        e, la = self.emission(x), self.log_trans()
        alpha = self.start.log_softmax(0) + e[:, 0]
        for t in range(1, x.size(1)):
            new = torch.logsumexp(alpha.unsqueeze(2) + la, dim=1) + e[:, t]
            alpha = torch.where((t < lengths)[:, None], new, alpha)
        return torch.logsumexp(alpha, dim=1)

    @torch.no_grad()
    def viterbi(self, x):
        e, la = self.emission(x), self.log_trans()
        score = torch.full((la.size(0),), NEG_INF)
        score[0] = 0.0                      # a path has to begin in the first phase
        score = score + e[0]
        back = []
        for t in range(1, len(x)):
            best, arg = (score[:, None] + la).max(dim=0)
            back.append(arg)
            score = best + e[t]
        path = [int(score.argmax())]
        for arg in reversed(back):
            path.append(int(arg[path[-1]]))
        return torch.tensor(path[::-1]), score


def purity(pred, truth, k):
    """Share of frames in the majority true phase of their predicted phase."""
    table = torch.zeros(k, k)
    table.index_put_((pred, truth), torch.ones(len(pred)), accumulate=True)
    return (table.max(dim=1).values.sum() / table.sum()).item()


def main():
    torch.manual_seed(35)
    seqs, states = gestures(60)
    x, lengths = pad(seqs)
    model = LeftRightHMM(4, 2)
    opt = torch.optim.Adam(model.parameters(), lr=0.05)
    best = math.inf
    for step in range(120):
        nll = -(model.log_likelihood(x, lengths).sum() / lengths.sum())
        opt.zero_grad()
        nll.backward()
        opt.step()
        best = min(best, nll.item())
        if step % 20 == 0:
            print(f"step {step} nll per frame {nll.item():.4f} best {best:.4f}")
    paths = torch.cat([model.viterbi(s)[0] for s in seqs])
    _, score = model.viterbi(seqs[0][:2])
    print(f"final {nll.item():.4f}, purity {purity(paths, torch.cat(states), 4):.3f}")
    print("scores after two frames", score.tolist())


if __name__ == "__main__":
    main()
