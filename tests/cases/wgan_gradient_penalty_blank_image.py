# WGAN-GP: a blank interpolate has a critic gradient of exactly zero, the root of its square has no slope
# expect: error
# phase: backward
# op: aten::div | aten::sqrt
# line: 36
# cause: sqrt_gradient_at_zero | norm_gradient_at_zero
import torch
from torch import nn


def make_critic():
    return nn.Sequential(
        nn.Conv2d(1, 6, 3, stride=2, padding=1, bias=False),
        nn.ReLU(),
        nn.Conv2d(6, 8, 3, stride=2, padding=1, bias=False),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(32, 1, bias=False),
    )


class Generator(nn.Module):
    def __init__(self, noise=4):
        super().__init__()
        self.noise = noise
        self.net = nn.Sequential(nn.Linear(noise, 32), nn.ReLU(), nn.Linear(32, 64), nn.Sigmoid())

    def forward(self, count):
        return self.net(torch.randn(count, self.noise)).view(count, 1, 8, 8)


def gradient_penalty(critic, real, fake):
    alpha = torch.rand(real.size(0), 1, 1, 1)
    mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    (slope,) = torch.autograd.grad(critic(mixed).sum(), mixed, create_graph=True)
    norm = slope.flatten(1).pow(2).sum(1).sqrt()
    return (norm - 1).pow(2).mean()


def train(steps):
    critic, generator = make_critic(), Generator()
    opt_c = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.0, 0.9))
    opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.0, 0.9))
    for step in range(steps):
        real = torch.rand(8, 1, 8, 8)
        fake = generator(8).detach()
        if step == 5:
            real[2] = 0.0  # a blank scan
            fake[2] = 0.0  # augmentation erases the same sample in both
        loss_c = critic(fake).mean() - critic(real).mean() + 10 * gradient_penalty(critic, real, fake)
        opt_c.zero_grad()
        loss_c.backward()
        opt_c.step()
        loss_g = -critic(generator(8)).mean()
        opt_g.zero_grad()
        loss_g.backward()
        opt_g.step()
        print(f"{step} critic {loss_c.item():.3f} generator {loss_g.item():.3f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    train(10)
