"""Zero-inflated log-normal regression for insurance claim amounts (lifetime value style loss)."""
import math
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

torch.set_num_threads(1)


class Batch(NamedTuple):
    num: Tensor
    region: Tensor
    claim: Tensor


class Policies:
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        age = rng.uniform(18, 80, n)
        power = rng.gamma(3.0, 20.0, n)
        region = rng.integers(0, 5, n)
        p = 1 / (1 + np.exp(-(1.2 - 0.02 * (age - 40) + 0.006 * power)))
        amount = np.exp(0.5 + 0.01 * power + 0.2 * region + 0.7 * rng.normal(size=n))
        claim = np.where(rng.random(n) < p, amount, 0.0)
        self.num = torch.tensor(np.stack([(age - 49) / 18, (np.log(power) - 3.9) / 0.6], 1), dtype=torch.float32)
        self.region = torch.tensor(region)
        self.claim = torch.tensor(claim, dtype=torch.float32)

    def batches(self, size, shuffle=False):
        order = torch.randperm(len(self.claim)) if shuffle else torch.arange(len(self.claim))
        for i in order.split(size):
            yield Batch(self.num[i], self.region[i], self.claim[i])


class ZILN(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.region = nn.Embedding(5, 4)
        self.body = nn.Sequential(nn.Linear(6, hidden), nn.ReLU(), nn.Linear(hidden, 3))

    def forward(self, b):
        logit, mu, raw = self.body(torch.cat([b.num, self.region(b.region)], 1)).unbind(1)
        return logit, mu, F.softplus(raw) + 1e-3

    def expected(self, b):
        logit, mu, sigma = self(b)
        return torch.sigmoid(logit) * torch.exp(mu + 0.5 * sigma.pow(2))


def lognormal_log_prob(y, mu, sigma):
    log_y = torch.log(y)
    z = (log_y - mu) / sigma
    return -0.5 * z.square() - sigma.log() - log_y - 0.5 * math.log(2 * math.pi)


def ziln_nll(out, claim):
    logit, mu, sigma = out
    paid = claim > 0
    cls = F.binary_cross_entropy_with_logits(logit, paid.float())
    amount = torch.where(paid, lognormal_log_prob(claim, mu, sigma), torch.zeros_like(claim))
    return cls - amount.sum() / paid.sum().clamp(min=1)


def gini(actual, predicted):
    order = np.argsort(-predicted)
    lorenz = np.cumsum(actual[order]) / actual.sum()
    return 2 * lorenz.mean() - 1


def main(epochs=4, batch_size=100, lr=5e-3):
    torch.manual_seed(1)
    train, test = Policies(1200, 1), Policies(400, 2)
    print(f"share without claim: {(train.claim == 0).float().mean():.2f}")
    model = ZILN()
    opt = torch.optim.Adam(model.parameters(), lr=lr, weight_decay=1e-5)
    for epoch in range(epochs):
        total, steps = 0.0, 0
        for b in train.batches(batch_size, shuffle=True):
            loss = ziln_nll(model(b), b.claim)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total, steps = total + loss.item(), steps + 1
        with torch.no_grad():
            pred = torch.cat([model.expected(b) for b in test.batches(200)])
        print(f"epoch {epoch} nll {total / steps:.4f} test gini {gini(test.claim.numpy(), pred.numpy()):.4f}")


if __name__ == "__main__":
    main()
