"""WGAN with gradient penalty on a ring of gaussians."""
import argparse
import math

import torch
import torch.nn as nn
from torch import autograd, optim


def parse_args():
    ap = argparse.ArgumentParser()
    ap.add_argument("--iters", type=int, default=30)
    ap.add_argument("--n-critic", type=int, default=3)
    ap.add_argument("--batch", type=int, default=64)
    ap.add_argument("--z-dim", type=int, default=4)
    ap.add_argument("--hidden", type=int, default=8)
    ap.add_argument("--lr", type=float, default=5e-3)
    ap.add_argument("--gp-weight", type=float, default=10.0)
    ap.add_argument("--seed", type=int, default=0)
    return ap.parse_args()


def ring_batches(batch, modes=8, radius=2.0, std=0.05):
    while True:
        k = torch.randint(modes, (batch,)).float()
        angle = 2 * math.pi * k / modes
        centers = radius * torch.stack([angle.cos(), angle.sin()], dim=1)
        yield centers + std * torch.randn(batch, 2)


class Generator(nn.Module):
    def __init__(self, z_dim, hidden):
        super().__init__()
        self.z_dim = z_dim
        self.net = nn.Sequential(
            nn.Linear(z_dim, hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.ReLU(),
            nn.Linear(hidden, 2),
        )

    def forward(self, n):
        return self.net(torch.randn(n, self.z_dim))


class Critic(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.fc1 = nn.Linear(2, hidden)
        self.fc2 = nn.Linear(hidden, hidden // 2)
        self.out = nn.Linear(hidden // 2, 1)
        self.act = nn.ReLU()

    def forward(self, x):
        return self.out(self.act(self.fc2(self.act(self.fc1(x))))).squeeze(1)


def gradient_penalty(critic, real, fake):
    alpha = torch.rand(real.size(0), 1)
    mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    scores = critic(mixed)
    (grads,) = autograd.grad(
        outputs=scores, inputs=mixed, grad_outputs=torch.ones_like(scores),
        create_graph=True, retain_graph=True,
    )
    norms = grads.pow(2).sum(dim=1).sqrt()
    return (norms - 1).pow(2).mean()


class Trainer:
    def __init__(self, args):
        self.args = args
        self.gen = Generator(args.z_dim, args.hidden)
        self.critic = Critic(args.hidden)
        self.opt_g = optim.Adam(self.gen.parameters(), lr=args.lr, betas=(0.0, 0.9))
        self.opt_c = optim.Adam(self.critic.parameters(), lr=args.lr, betas=(0.0, 0.9))
        self.data = ring_batches(args.batch)

    def critic_step(self):
        real = next(self.data)
        with torch.no_grad():
            fake = self.gen(len(real))
        gp = gradient_penalty(self.critic, real, fake)
        wdist = self.critic(real).mean() - self.critic(fake).mean()
        loss = -wdist + self.args.gp_weight * gp
        self.opt_c.zero_grad()
        loss.backward()
        self.opt_c.step()
        return wdist.item(), gp.item()

    def gen_step(self):
        loss = -self.critic(self.gen(self.args.batch)).mean()
        self.opt_g.zero_grad()
        loss.backward()
        self.opt_g.step()
        return loss.item()

    def fit(self):
        for it in range(self.args.iters):
            for _ in range(self.args.n_critic):
                wdist, gp = self.critic_step()
            g_loss = self.gen_step()
            if it % 5 == 0:
                print(f"iter {it:4d}  W {wdist:+.4f}  gp {gp:.4f}  G {g_loss:+.4f}")

    @torch.no_grad()
    def coverage(self, n=512):
        pts = self.gen(n)
        r = pts.norm(dim=1)
        return r.mean().item(), r.std().item()


if __name__ == "__main__":
    args = parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    trainer = Trainer(args)
    trainer.fit()
    mean_r, std_r = trainer.coverage()
    print(f"generated radius {mean_r:.3f} +- {std_r:.3f}")
