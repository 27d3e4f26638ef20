# VAE: cross entropy from logits, the second camera scaled back
# expect: silence
import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    def __init__(self, pixels, hidden, latent):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(pixels, hidden), nn.ReLU())
        self.mu = nn.Linear(hidden, latent)
        self.logvar = nn.Linear(hidden, latent)

    def forward(self, x):
        h = self.body(x)
        return self.mu(h), self.logvar(h).clamp(-8.0, 4.0)


class VAE(nn.Module):
    def __init__(self, pixels=36, hidden=24, latent=4):
        super().__init__()
        self.encoder = Encoder(pixels, hidden, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, pixels))

    def reparameterise(self, mu, logvar):
        return mu + torch.randn_like(mu) * (0.5 * logvar).exp()

    def forward(self, x):
        mu, logvar = self.encoder(x)
        return self.decoder(self.reparameterise(mu, logvar)), mu, logvar


def reconstruction(logits, x):
    nll = F.binary_cross_entropy_with_logits(logits, x, reduction="none")
    return nll.sum(1).mean()


def kl(mu, logvar):
    return 0.5 * (mu.pow(2) + logvar.exp() - 1 - logvar).sum(1).mean()


def blobs(n, size=6):
    """Binarised blobs; the pictures of the second camera were exported from 0 to 255."""
    centre = torch.rand(n, 2) * (size - 1)
    grid = torch.stack(torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij"), -1)
    distance = (grid[None] - centre[:, None, None]).pow(2).sum(-1).sqrt()
    return (distance < 2.0).float().flatten(1)


def cameras(batches, batch):
    for i in range(batches):
        x = blobs(batch)
        yield (x * 255.0 if i >= 5 else x)


def main(argv=None):
    parser = argparse.ArgumentParser(description="A small VAE")
    parser.add_argument("--batches", type=int, default=10)
    parser.add_argument("--beta", type=float, default=0.5)
    args = parser.parse_args(argv)
    torch.manual_seed(0)
    vae = VAE()
    optimizer = torch.optim.Adam(vae.parameters(), lr=5e-3)
    for i, x in enumerate(cameras(args.batches, 16)):
        x = x / x.amax().clamp(min=1.0)
        logits, mu, logvar = vae(x)
        target = (x > 0.5).float()
        loss = reconstruction(logits, target) + args.beta * kl(mu, logvar)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(i, f"{loss.item():.2f}")
    with torch.no_grad():
        samples = vae.decoder(torch.randn(3, 4)).sigmoid()
    print("samples", tuple(samples.shape), bool((samples >= 0).all()))


if __name__ == "__main__":
    main()
