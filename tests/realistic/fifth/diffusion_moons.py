"""DDPM on two moons, x0-prediction with root-SNR weighting (cosine schedule)."""
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn


@dataclass
class DiffusionConfig:
    timesteps: int = 1000
    batch: int = 64
    steps: int = 500
    lr: float = 1e-3
    ema: float = 0.99
    s: float = 0.008
    seed: int = 6


def two_moons(n, rng):
    t = rng.uniform(0, np.pi, n)
    upper = rng.random(n) < 0.5
    x = np.where(upper, np.cos(t), 1 - np.cos(t))
    y = np.where(upper, np.sin(t), 0.5 - np.sin(t))
    pts = np.stack([x - 0.5, y - 0.25], 1) + rng.normal(0, 0.05, (n, 2))
    return torch.from_numpy(pts.astype(np.float32))


def cosine_alpha_bar(cfg):
    t = torch.arange(cfg.timesteps, dtype=torch.float64) / cfg.timesteps
    f = torch.cos((t + cfg.s) / (1 + cfg.s) * torch.pi / 2) ** 2
    return (f / f[0]).float()


class Denoiser(nn.Module):
    def __init__(self, T, width=96):
        super().__init__()
        self.time = nn.Embedding(T, 32)
        self.net = nn.Sequential(
            nn.Linear(2 + 32, width), nn.SiLU(),
            nn.Linear(width, width), nn.SiLU(),
            nn.Linear(width, 2),
        )

    def forward(self, x, t):
        return self.net(torch.cat([x, self.time(t)], dim=1))


class EMA:
    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = {k: v.detach().clone() for k, v in model.state_dict().items()}

    def update(self, model):
        for k, v in model.state_dict().items():
            self.shadow[k].lerp_(v, 1 - self.decay)


def training_loss(model, x0, abar, gen):
    t = torch.randint(0, len(abar), (len(x0),), generator=gen)
    a = abar[t].unsqueeze(1)
    noise = torch.randn(x0.shape, generator=gen)
    xt = a.sqrt() * x0 + (1 - a).sqrt() * noise
    x0_hat = model(xt, t)
    weight = a / (1 - a)
    err = (x0_hat - x0).pow(2).mean(dim=1, keepdim=True)
    return (weight.sqrt() * err).mean()


@torch.no_grad()
def ddim_sample(model, abar, n, gen, stride=10):
    x = torch.randn(n, 2, generator=gen)
    times = list(range(len(abar) - 1, 0, -stride))
    for i, t in enumerate(times):
        x0 = model(x, torch.full((n,), t))
        prev = abar[times[i + 1]] if i + 1 < len(times) else torch.tensor(1.0)
        eps = (x - abar[t].sqrt() * x0) / (1 - abar[t]).sqrt()
        x = prev.sqrt() * x0 + (1 - prev).sqrt() * eps
    return x


def main():
    cfg = DiffusionConfig()
    torch.manual_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    gen = torch.Generator().manual_seed(cfg.seed)
    abar = cosine_alpha_bar(cfg)
    model = Denoiser(cfg.timesteps)
    ema = EMA(model, cfg.ema)
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    for step in range(cfg.steps):
        loss = training_loss(model, two_moons(cfg.batch, rng), abar, gen)
        opt.zero_grad()
        loss.backward()
        opt.step()
        ema.update(model)
        if step % 100 == 0:
            print(f"step {step:4d} loss {loss.item():.4f}")
    model.load_state_dict(ema.shadow)
    s = ddim_sample(model, abar, 500, gen)
    print("sample mean", s.mean(0).tolist(), "std", s.std(0).tolist())


if __name__ == "__main__":
    main()
