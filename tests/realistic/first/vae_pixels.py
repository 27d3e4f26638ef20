import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


def draw_digit(rng, size=16):
    """a crude seven-segment digit on white paper, as an 8 bit greyscale image"""
    segs = ["1110111", "0010010", "1011101", "1011011", "0111010",
            "1101011", "1101111", "1010010", "1111111", "1111011"]
    label = int(rng.integers(10))
    img = np.zeros((size, size), dtype=np.uint8)
    a, b, m = 3, size - 4, size // 2
    lines = [(a, slice(a, b)), (slice(a, m), a), (slice(a, m), b), (m, slice(a, b)),
             (slice(m, b), a), (slice(m, b), b), (b, slice(a, b))]
    for on, (r, c) in zip(segs[label], lines):
        if on == "1":
            img[r, c] = rng.integers(180, 256)
    noise = rng.integers(0, 30, size=img.shape, dtype=np.uint8)
    return 255 - np.maximum(img, noise), label


class Digits(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        pairs = [draw_digit(rng) for _ in range(n)]
        self.images = np.stack([p[0] for p in pairs])
        self.labels = [p[1] for p in pairs]

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return torch.from_numpy(self.images[i]).float().flatten(), self.labels[i]


class VAE(nn.Module):
    def __init__(self, d_in=256, d_hidden=64, d_latent=8):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(d_in, d_hidden), nn.ReLU())
        self.to_mu = nn.Linear(d_hidden, d_latent)
        self.to_logvar = nn.Linear(d_hidden, d_latent)
        self.decoder = nn.Sequential(
            nn.Linear(d_latent, d_hidden), nn.ReLU(), nn.Linear(d_hidden, d_in)
        )

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        return mu + std * torch.randn_like(std)

    def forward(self, x):
        h = self.encoder(x)
        mu, logvar = self.to_mu(h), self.to_logvar(h)
        z = self.reparameterize(mu, logvar)
        return self.decoder(z), mu, logvar


def elbo(recon, x, mu, logvar, beta):
    rec = F.mse_loss(recon, x, reduction="sum") / x.size(0)
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp()) / x.size(0)
    return rec + beta * kld, rec, kld


def train_one_epoch(model, loader, optimizer, epoch, args):
    model.train()
    beta = args.beta * min(1.0, (epoch + 1) / args.kl_warmup)
    for step, (x, _) in enumerate(loader):
        recon, mu, logvar = model(x)
        loss, rec, kld = elbo(recon, x, mu, logvar, beta)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % args.log_every == 0:
            print(f"epoch {epoch} step {step:3d} loss {loss.item():.4g} rec {rec.item():.4g} kl {kld.item():.4g}")


@torch.no_grad()
def sample(model, n):
    model.eval()
    z = torch.randn(n, model.to_mu.out_features)
    return model.decoder(z).view(n, 16, 16)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="VAE on segment digits")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--beta", type=float, default=1.0)
    parser.add_argument("--kl-warmup", type=int, default=2)
    parser.add_argument("--log-every", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)

    loader = DataLoader(Digits(512, args.seed), batch_size=args.batch_size, shuffle=True)
    model = VAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        train_one_epoch(model, loader, optimizer, epoch, args)
    imgs = sample(model, 4)
    print("sample mean intensity", imgs.mean().item())
