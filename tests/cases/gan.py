# GAN: the discriminator's temperature is annealed until its answer is exactly 0 or 1, then log
# expect: error
# phase: forward
# op: aten::log
# line: 45
# cause: log_of_zero
import torch
import torch.nn as nn


def mlp(*sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers[:-1])


class Generator(nn.Module):
    def __init__(self, noise=4):
        super().__init__()
        self.noise = noise
        self.net = mlp(noise, 16, 2)

    def sample(self, n):
        return self.net(torch.randn(n, self.noise))


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = mlp(2, 32, 32, 1)
        self.temperature = 1.0

    def forward(self, x):
        return torch.sigmoid(self.net(x) / self.temperature).squeeze(1)


def real_points(n):
    """A ring, in the units of the sensor (not normalised)."""
    angle = torch.rand(n) * 6.2832
    return 100.0 * torch.stack([angle.cos(), angle.sin()], dim=1) + torch.randn(n, 2)


def discriminator_loss(real, fake):
    return -(torch.log(real) + torch.log(1 - fake)).mean()


def generator_loss(fake):
    return -torch.log(fake).mean()


class Trainer:
    def __init__(self, batch=32):
        self.batch = batch
        self.g, self.d = Generator(), Discriminator()
        self.opt_g = torch.optim.Adam(self.g.parameters(), lr=1e-4, betas=(0.5, 0.999))
        self.opt_d = torch.optim.Adam(self.d.parameters(), lr=1e-4, betas=(0.5, 0.999))

    def step_d(self):
        with torch.no_grad():
            fake = self.g.sample(self.batch)
        loss = discriminator_loss(self.d(real_points(self.batch)), self.d(fake))
        self.opt_d.zero_grad()
        loss.backward()
        self.opt_d.step()
        return loss

    def step_g(self):
        for p in self.d.parameters():
            p.requires_grad_(False)
        loss = generator_loss(self.d(self.g.sample(self.batch)))
        self.opt_g.zero_grad()
        loss.backward()
        self.opt_g.step()
        for p in self.d.parameters():
            p.requires_grad_(True)
        return loss

    def fit(self, steps):
        for step in range(steps):
            d, g = self.step_d(), self.step_g()
            self.d.temperature *= 0.8
            if step % 5 == 0:
                print(f"{step:4d}  D {d.item():.3f}  G {g.item():.3f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    Trainer().fit(120)
