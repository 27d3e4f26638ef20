"""Ride counts per station and hour: a small network with a Poisson likelihood."""
import math
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Settings:
    stations: int = 24
    hours: int = 240
    width: int = 32
    lr: float = 3e-3
    epochs: int = 12
    batch: int = 64
    seed: int = 4


def make_rides(cfg):
    g = torch.Generator().manual_seed(cfg.seed)
    station = torch.randint(0, cfg.stations, (cfg.hours * 8,), generator=g)
    hour = torch.randint(0, 24, (cfg.hours * 8,), generator=g)
    base = torch.rand(cfg.stations, generator=g) * 2.5 + 3.0
    wave = 1.0 + 0.6 * torch.sin((hour.float() - 8) / 24 * 2 * math.pi)
    rate = base[station] * wave
    return station, hour, torch.poisson(rate, generator=g)


class RideNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.station = nn.Embedding(cfg.stations, 8)
        self.hour = nn.Embedding(24, 8)
        self.body = nn.Sequential(nn.Linear(16, cfg.width), nn.ReLU(), nn.Linear(cfg.width, 1))

    def forward(self, station, hour):
        z = torch.cat([self.station(station), self.hour(hour)], dim=-1)
        return self.body(z).squeeze(-1)


def poisson_deviance(log_rate, count):
    """Twice the distance to the saturated model, so that 0 is a perfect fit."""
    rate = log_rate.exp()
    saturated = count * torch.log(count) - count
    fitted = count * log_rate - rate
    return 2 * (saturated - fitted).mean()


def epochs_of(n, batch, generator):
    order = torch.randperm(n, generator=generator)
    for start in range(0, n, batch):
        yield order[start:start + batch]


def main():
    cfg = Settings()
    torch.manual_seed(cfg.seed)
    torch.set_num_threads(1)
    station, hour, count = make_rides(cfg)
    cut = int(0.8 * len(count))
    net = RideNet(cfg)
    opt = torch.optim.Adam(net.parameters(), lr=cfg.lr)
    g = torch.Generator().manual_seed(1)
    for epoch in range(cfg.epochs):
        total = 0.0
        for rows in epochs_of(cut, cfg.batch, g):
            loss = poisson_deviance(net(station[rows], hour[rows]), count[rows])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(rows)
        with torch.no_grad():
            mae = (net(station[cut:], hour[cut:]).exp() - count[cut:]).abs().mean()
        print(f"epoch {epoch:2d} deviance {total / cut:.4f} mae {mae:.3f}")


if __name__ == "__main__":
    main()
