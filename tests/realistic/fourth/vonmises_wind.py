"""Wind direction forecaster: a network that predicts a von Mises distribution."""
import math

import torch
from torch import nn


class WindNet(nn.Module):
    def __init__(self, features=6, hidden=48):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(features, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.direction = nn.Linear(hidden, 2)
        self.sharpness = nn.Linear(hidden, 1)

    def forward(self, x):
        h = self.body(x)
        east, north = self.direction(h).unbind(-1)
        mean = torch.atan2(north, east)
        kappa = nn.functional.softplus(self.sharpness(h)).squeeze(-1)
        return mean, kappa


def von_mises_nll(mean, kappa, angle):
    norm = math.log(2 * math.pi) + torch.log(torch.special.i0(kappa))
    return (norm - kappa * torch.cos(angle - mean)).mean()


def weather(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 6, generator=g)
    angle = torch.atan2(x[:, 0], x[:, 1]) + 0.002 * torch.randn(n, generator=g)
    return x, angle


def main():
    torch.manual_seed(3)
    x, angle = weather(2048, 7)
    model = WindNet()
    with torch.no_grad():
        model.sharpness.bias.fill_(75.0)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for epoch in range(25):
        order = torch.randperm(len(x))
        for rows in order.split(128):
            mean, kappa = model(x[rows])
            loss = von_mises_nll(mean, kappa, angle[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, round(loss.item(), 4), round(kappa.max().item(), 2))


if __name__ == "__main__":
    main()
