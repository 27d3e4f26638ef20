"""A small variational autoencoder on synthetic digits. It trains well for some dozens of steps;
then the loss is nan. Run it under nanscope to see why:

    nanscope run examples/vae.py
"""

import torch
from torch import nn

torch.manual_seed(7)


def make_digits(count: int) -> torch.Tensor:
    """Bright strokes on a dark ground, 12 x 12: pixels between 0 and 1."""
    rows = torch.arange(12).view(12, 1)
    columns = torch.arange(12).view(1, 12)
    slope, shift = torch.randint(-2, 3, (count, 1, 1)), torch.randint(2, 10, (count, 1, 1))
    stroke = ((rows * slope).div(2, rounding_mode="floor") + shift - columns).abs() <= 1
    return stroke.float().view(count, -1)


class VAE(nn.Module):
    def __init__(self, pixels: int = 144, hidden: int = 128, latent: int = 8):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(pixels, hidden), nn.ReLU())
        self.mean, self.log_variance = nn.Linear(hidden, latent), nn.Linear(hidden, latent)
        self.decoder = nn.Sequential(
            nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, pixels), nn.Sigmoid()
        )

    def forward(self, x):
        h = self.encoder(x)
        mean, log_variance = self.mean(h), self.log_variance(h)
        z = mean + torch.randn_like(mean) * torch.exp(0.5 * log_variance)
        return self.decoder(z), mean, log_variance


def elbo_loss(recon, x, mean, log_variance):
    likelihood = x * torch.log(recon) + (1 - x) * torch.log(1 - recon)
    divergence = -0.5 * (1 + log_variance - mean.pow(2) - log_variance.exp())
    return -likelihood.sum(1).mean() + divergence.sum(1).mean()


model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
digits = make_digits(2048)

for step in range(400):
    batch = digits[torch.randint(0, len(digits), (64,))]
    recon, mean, log_variance = model(batch)
    loss = elbo_loss(recon, batch, mean, log_variance)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step:3d}  loss {loss.item():.2f}")
