"""Gaussian copula of sensor channels: ranks -> uniform -> normal scores -> a flow on the scores."""
import argparse
import math

import torch
import torch.nn as nn


def normal_scores(x):
    ranks = x.argsort(dim=0).argsort(dim=0) + 1
    u = ranks / len(x)
    return math.sqrt(2) * torch.erfinv(2 * u - 1)


class Scorer(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(channels - 1, 32), nn.SiLU(), nn.Linear(32, 1))

    def forward(self, z):
        return self.net(z[:, :-1]).squeeze(-1)


def record(n, channels, seed):
    g = torch.Generator().manual_seed(seed)
    hidden = torch.randn(n, 3, generator=g)
    mix = torch.randn(3, channels, generator=g)
    return torch.exp(hidden @ mix * 0.5) + 0.1 * torch.rand(n, channels, generator=g)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--channels", type=int, default=6)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch", type=int, default=50)
    args = parser.parse_args()

    torch.manual_seed(0)
    raw = record(500, args.channels, 9)
    z = normal_scores(raw)
    model = Scorer(args.channels)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(args.epochs):
        losses = []
        for batch in z.split(args.batch):
            prediction = model(batch)
            loss = ((prediction - batch[:, -1]) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"{epoch}: {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    main()
