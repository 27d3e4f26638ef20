"""Negative binomial regression of shop visits per day."""
import argparse

import torch
import torch.nn as nn


class VisitModel(nn.Module):
    def __init__(self, days=7, shops=20):
        super().__init__()
        self.shop = nn.Embedding(shops, 8)
        self.day = nn.Embedding(days, 8)
        self.rate = nn.Linear(16, 1)
        self.log_r = nn.Parameter(torch.zeros(()))

    def forward(self, shop, day):
        h = torch.cat([self.shop(shop), self.day(day)], dim=-1)
        return nn.functional.softplus(self.rate(h)).squeeze(-1), self.log_r.exp()


def gamma(x):
    return torch.exp(torch.lgamma(x))


def negative_binomial(count, mean, r):
    p = mean / (mean + r)
    choose = gamma(count + r) / (gamma(count + 1) * gamma(r))
    return -(torch.log(choose) + r * torch.log1p(-p) + count * torch.log(p)).mean()


def ledger(n, generator):
    shop = torch.randint(0, 20, (n,), generator=generator)
    day = torch.randint(0, 7, (n,), generator=generator)
    base = 1.0 + shop.float() / 6 + (day > 4).float() * 4
    count = torch.poisson(base, generator=generator)
    count[n // 2] = 41.0
    return shop, day, count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1200)
    parser.add_argument("--lr", type=float, default=0.01)
    args = parser.parse_args()
    torch.manual_seed(0)
    shop, day, count = ledger(args.rows, torch.Generator().manual_seed(2))
    model = VisitModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(4):
        total = 0.0
        for i in range(0, args.rows, 100):
            mean, r = model(shop[i:i + 100], day[i:i + 100])
            loss = negative_binomial(count[i:i + 100], mean, r)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} nll {total / 12:.3f}")


if __name__ == "__main__":
    main()
