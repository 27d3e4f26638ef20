"""A particle filter in a maze: a particle inside a wall is impossible, its weight is log 0."""
import torch
import torch.nn as nn

WALLS = [((0.3, 0.0), (0.4, 0.6)), ((0.6, 0.4), (0.7, 1.0))]


def inside_wall(x):
    hit = torch.zeros(x.shape[:-1], dtype=torch.bool)
    for low, high in WALLS:
        hit |= ((x > torch.tensor(low)) & (x < torch.tensor(high))).all(-1)
    return hit


def walk(g, steps):
    x = torch.tensor([0.1, 0.1])
    places = []
    for _ in range(steps):
        while True:
            y = (x + 0.08 * torch.randn(2, generator=g)).clamp(0, 1)
            if not inside_wall(y):
                break
        x = y
        places.append(x)
    return torch.stack(places)


class Sensor(nn.Module):
    """Learns the likelihood of a reading at a place."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 2))
        self.log_noise = nn.Parameter(torch.tensor(-1.0))

    def log_likelihood(self, reading, places):
        gap = reading - self.net(places)
        precision = torch.exp(-2 * self.log_noise)
        return -0.5 * precision * gap.square().sum(-1) - 2 * self.log_noise


def filtered(sensor, readings, g, count=64):
    """Marginal log-likelihood and the mean place after each step."""
    x = torch.rand(count, 2, generator=g)
    log_w = torch.zeros(count).masked_fill(inside_wall(x), -float("inf"))
    total, means = 0.0, []
    for reading in readings:
        x = (x + 0.08 * torch.randn(count, 2, generator=g)).clamp(0, 1)
        log_w = log_w + sensor.log_likelihood(reading, x)
        log_w = log_w.masked_fill(inside_wall(x), -float("inf"))
        norm = torch.logsumexp(log_w, 0)
        total = total + norm
        w = (log_w - norm).exp()
        means.append((w.detach()[:, None] * x).sum(0))
        pick = torch.multinomial(w.detach(), count, replacement=True, generator=g)
        x = x[pick]
        log_w = torch.full((count,), -torch.log(torch.tensor(float(count))).item())
    return total / len(readings), torch.stack(means)


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    g = torch.Generator().manual_seed(11)
    sensor = Sensor()
    opt = torch.optim.Adam(sensor.parameters(), lr=0.02)
    best = -float("inf")
    for epoch in range(25):
        places = walk(g, 20)
        readings = torch.stack([places.sum(1), places[:, 0] - places[:, 1]], 1)
        readings = readings + 0.1 * torch.randn(readings.shape, generator=g)
        marginal, means = filtered(sensor, readings, g)
        opt.zero_grad()
        (-marginal).backward()
        opt.step()
        best = max(best, marginal.item())
        if epoch % 5 == 0:
            error = (means - places).norm(dim=1).mean().item()
            print(f"{epoch:2d} marginal {marginal.item():+.3f} best {best:+.3f} error {error:.3f}")


if __name__ == "__main__":
    main()
