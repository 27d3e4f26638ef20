"""Learns the noise of a Kalman filter by maximum likelihood."""
import math

import torch
import torch.nn as nn


def walks(n, steps, seed):
    g = torch.Generator().manual_seed(seed)
    position = torch.cumsum(0.05 * torch.randn(n, steps, generator=g), dim=1)
    return position + 0.01 * torch.randn(n, steps, generator=g)


class KalmanLevel(nn.Module):
    """A level with an independent noise in two sensors; the filter is written out."""

    def __init__(self, prior=1e8):
        super().__init__()
        self.log_process = nn.Parameter(torch.tensor(-7.0))
        self.log_sensor = nn.Parameter(torch.tensor(-9.0))
        self.prior = prior

    def negative_log_likelihood(self, z):
        q, r = self.log_process.exp(), self.log_sensor.exp()
        mean = torch.zeros(z.shape[0])
        p = torch.full((z.shape[0],), self.prior)
        total = torch.zeros(z.shape[0])
        for t in range(z.shape[1]):
            s = p + r
            gain = p / s
            innovation = z[:, t] - mean
            total = total + 0.5 * (innovation ** 2 / s + torch.log(s) + math.log(2 * math.pi))
            mean = mean + gain * innovation
            p = p - gain ** 2 * s
            scaled = innovation / torch.sqrt(p)
            total = total + 1e-4 * scaled.abs()
            p = p + q
        return total.mean()


def main():
    torch.manual_seed(0)
    z = walks(32, 40, 5)
    model = KalmanLevel()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for step in range(30):
        loss = model.negative_log_likelihood(z)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(step, loss.item(), model.log_process.item(), model.log_sensor.item())


if __name__ == "__main__":
    main()
