"""Fits a correction on top of a Lennard-Jones baseline to energies of small clusters."""
import argparse

import torch
from torch import nn


def clusters(count, atoms, seed):
    """Positions after a crude relaxation; a few frames come from periodic images."""
    g = torch.Generator().manual_seed(seed)
    grid = torch.cartesian_prod(*[torch.arange(2.0)] * 3)[:atoms] * 1.15
    x = grid + 0.06 * torch.randn(count, atoms, 3, generator=g)
    for frame in range(41, count, 60):
        x[frame, -1] = x[frame, 0]      # the image of atom 0 was kept
    energy = -2.0 * atoms + 0.3 * torch.randn(count, generator=g)
    return x, energy


class PairPotential(nn.Module):
    def __init__(self, sigma=1.0, epsilon=1.0):
        super().__init__()
        self.log_sigma = nn.Parameter(torch.tensor(sigma).log())
        self.log_epsilon = nn.Parameter(torch.tensor(epsilon).log())
        self.correction = nn.Sequential(nn.Linear(1, 16), nn.SiLU(), nn.Linear(16, 1))

    def forward(self, x):
        atoms = x.shape[1]
        i, j = torch.triu_indices(atoms, atoms, offset=1)
        gap = x[:, i] - x[:, j]
        r2 = gap.square().sum(-1)
        s2 = self.log_sigma.exp().square() / r2
        s6 = s2 ** 3
        lj = 4 * self.log_epsilon.exp() * (s6 * s6 - s6)
        extra = self.correction(torch.exp(-r2)[..., None])[..., 0]
        return (lj + extra).sum(-1)


def batches(x, y, size):
    for rows in torch.arange(len(x)).split(size):
        yield x[rows], y[rows]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--frames", type=int, default=240)
    ap.add_argument("--atoms", type=int, default=6)
    ap.add_argument("--epochs", type=int, default=5)
    ap.add_argument("--lr", type=float, default=1e-3)
    args = ap.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    x, energy = clusters(args.frames, args.atoms, seed=17)
    model = PairPotential()
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        total = 0.0
        for xb, yb in batches(x, energy, 8):
            loss = nn.functional.huber_loss(model(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        sigma, epsilon = model.log_sigma.exp().item(), model.log_epsilon.exp().item()
        print(f"epoch {epoch} huber {total / 30:.4f} sigma {sigma:.3f} epsilon {epsilon:.3f}")


if __name__ == "__main__":
    main()
