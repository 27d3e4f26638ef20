"""Toy DDPM (epsilon prediction) on a swiss roll, min-SNR loss weighting."""
import math
from dataclasses import dataclass

import torch
import torch.nn as nn


@dataclass
class DiffusionConfig:
    timesteps: int = 200
    beta_start: float = 1e-4
    beta_end: float = 0.02
    snr_gamma: float = 5.0
    hidden: int = 64
    batch_size: int = 24
    iterations: int = 120
    lr: float = 1e-3
    ema_decay: float = 0.98
    seed: int = 5


def rescale_zero_terminal_snr(betas):
    """Algorithm 1 of "Common Diffusion Noise Schedules and Sample Steps are Flawed"."""
    sqrt_ab = torch.cumprod(1.0 - betas, dim=0).sqrt()
    first, last = sqrt_ab[0].clone(), sqrt_ab[-1].clone()
    sqrt_ab = (sqrt_ab - last) * first / (first - last)
    return sqrt_ab ** 2


class NoiseSchedule:
    def __init__(self, cfg):
        betas = torch.linspace(cfg.beta_start, cfg.beta_end, cfg.timesteps)
        self.alpha_bar = rescale_zero_terminal_snr(betas)
        self.gamma = cfg.snr_gamma

    def add_noise(self, x0, eps, t):
        ab = self.alpha_bar[t].unsqueeze(1)
        return ab.sqrt() * x0 + (1 - ab).sqrt() * eps

    def loss_weight(self, t):
        ab = self.alpha_bar[t]
        snr = ab / (1 - ab)
        return snr.clamp(max=self.gamma) / snr


class Denoiser(nn.Module):
    def __init__(self, cfg, time_dim=16):
        super().__init__()
        freqs = torch.exp(-math.log(1000.0) * torch.arange(time_dim // 2) / (time_dim // 2))
        self.register_buffer("freqs", freqs)
        self.net = nn.Sequential(
            nn.Linear(2 + time_dim, cfg.hidden), nn.SiLU(),
            nn.Linear(cfg.hidden, cfg.hidden), nn.SiLU(),
            nn.Linear(cfg.hidden, 2),
        )

    def forward(self, x, t):
        arg = t[:, None].float() * self.freqs
        return self.net(torch.cat([x, arg.sin(), arg.cos()], dim=-1))


def swiss_roll(n):
    t = 1.5 * math.pi * (1 + 2 * torch.rand(n))
    pts = torch.stack([t * t.cos(), t * t.sin()], dim=1) / 10.0
    return pts + 0.02 * torch.randn_like(pts)


@torch.no_grad()
def update_ema(ema, model, decay):
    for pe, p in zip(ema.parameters(), model.parameters()):
        pe.lerp_(p, 1 - decay)


def main():
    cfg = DiffusionConfig()
    torch.manual_seed(cfg.seed)
    torch.set_num_threads(1)
    schedule = NoiseSchedule(cfg)
    model, ema = Denoiser(cfg), Denoiser(cfg)
    ema.load_state_dict(model.state_dict())
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    lr_sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=cfg.lr * 3, total_steps=cfg.iterations)

    for it in range(cfg.iterations):
        x0 = swiss_roll(cfg.batch_size)
        t = torch.randint(0, cfg.timesteps, (cfg.batch_size,))
        eps = torch.randn_like(x0)
        pred = model(schedule.add_noise(x0, eps, t), t)
        per_sample = (pred - eps).square().mean(dim=1)
        loss = (schedule.loss_weight(t) * per_sample).mean()

        opt.zero_grad(set_to_none=True)
        loss.backward()
        gnorm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        lr_sched.step()
        update_ema(ema, model, cfg.ema_decay)
        if it % 20 == 0:
            print(f"it {it:4d} loss {loss.item():.4f} |g| {gnorm.item():.3f} lr {lr_sched.get_last_lr()[0]:.2e}")

    with torch.no_grad():
        x = torch.randn(256, 2)
        t = torch.full((256,), cfg.timesteps // 2)
        print("ema output std", ema(x, t).std().item())


if __name__ == "__main__":
    main()
