"""Tiny 2-D 'radiance field': render rays through coloured discs and fit them in sRGB space."""
import argparse
import math

import torch
import torch.nn as nn


def linear_to_srgb(x):
    return torch.where(x <= 0.0031308, 12.92 * x, 1.055 * x.pow(1 / 2.4) - 0.055)


def positional(x, n_freq):
    f = 2.0 ** torch.arange(n_freq) * math.pi
    y = (x[..., None] * f).flatten(-2)
    return torch.cat([x, y.sin(), y.cos()], dim=-1)


class Field(nn.Module):
    def __init__(self, n_freq=3, width=32):
        super().__init__()
        self.n_freq = n_freq
        d = 2 + 4 * n_freq
        self.trunk = nn.Sequential(nn.Linear(d, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.sigma = nn.Linear(width, 1)
        self.rgb = nn.Linear(width, 3)
        nn.init.constant_(self.sigma.bias, 0.1)

    def forward(self, pts):
        h = self.trunk(positional(pts, self.n_freq))
        return torch.relu(self.sigma(h)).squeeze(-1), torch.sigmoid(self.rgb(h))


def sample_rays(n, gen):
    ang = 2 * math.pi * torch.rand(n, generator=gen)
    origin = 2.0 * torch.stack([ang.cos(), ang.sin()], -1)
    target = 0.8 * (2 * torch.rand(n, 2, generator=gen) - 1)
    d = target - origin
    return origin, d / d.norm(dim=-1, keepdim=True)


def composite(sigma, color, delta):
    alpha = 1 - torch.exp(-sigma * delta)
    trans = torch.cumprod(1 - alpha + 1e-10, dim=-1).roll(1, dims=-1)
    trans[..., 0] = 1.0
    return ((alpha * trans).unsqueeze(-1) * color).sum(dim=-2)


def render(field, origin, direction, n_samples=24, near=1.0, far=3.0):
    t = torch.linspace(near, far, n_samples)
    pts = origin[:, None] + t[None, :, None] * direction[:, None]
    sigma, color = field(pts)
    return composite(sigma, color, (far - near) / n_samples)


def ground_truth(pts):
    centers = torch.tensor([[0.3, 0.2], [-0.4, -0.3]])
    colors = torch.tensor([[0.9, 0.2, 0.1], [0.1, 0.5, 0.9]])
    d = (pts[..., None, :] - centers).norm(dim=-1)
    inside = (d < 0.25).float()
    return 20 * inside.amax(-1), inside @ colors


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--iters", type=int, default=80)
    ap.add_argument("--rays", type=int, default=48)
    ap.add_argument("--lr", type=float, default=5e-3)
    ap.add_argument("--seed", type=int, default=0)
    args = ap.parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    gen = torch.Generator().manual_seed(args.seed)

    field = Field()
    opt = torch.optim.Adam(field.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda i: 0.1 ** (i / args.iters))
    for i in range(args.iters):
        o, d = sample_rays(args.rays, gen)
        with torch.no_grad():
            target = render(ground_truth, o, d).clamp(0, 1)
            target = linear_to_srgb(target)
        pred = linear_to_srgb(render(field, o, d))
        loss = torch.mean((pred - target) ** 2)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        sched.step()
        if i % 10 == 0 or i == args.iters - 1:
            print(f"iter {i:3d} mse {loss.item():.5f} psnr {-10 * math.log10(max(loss.item(), 1e-12)):.2f}")


if __name__ == "__main__":
    main()
