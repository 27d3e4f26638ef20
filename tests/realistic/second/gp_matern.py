"""Exact GP regression with an ARD Matern-5/2 kernel, type-II maximum likelihood."""
import argparse
import math

import torch
from torch import nn

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)


def make_data(n, gen):
    x = torch.rand(n, 3, generator=gen) * 4 - 2
    f = torch.sin(2 * x[:, 0]) + 0.3 * x[:, 1] ** 2
    return x, f + 0.1 * torch.randn(n, generator=gen)


def pairwise_distance(a, b):
    diff = a.unsqueeze(1) - b.unsqueeze(0)
    return diff.pow(2).sum(-1).sqrt()


class Matern52(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.log_ell = nn.Parameter(torch.zeros(dim))
        self.log_sf = nn.Parameter(torch.zeros(()))

    def forward(self, a, b):
        ell = self.log_ell.exp()
        d = math.sqrt(5.0) * pairwise_distance(a / ell, b / ell)
        return (2 * self.log_sf).exp() * (1 + d + d**2 / 3) * torch.exp(-d)


class ExactGP(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.kernel = Matern52(dim)
        self.log_noise = nn.Parameter(torch.tensor(-1.5))
        self.mean = nn.Parameter(torch.zeros(()))

    def cov(self, x):
        k = self.kernel(x, x)
        return k + (2 * self.log_noise).exp() * torch.eye(len(x)) + 1e-6 * torch.eye(len(x))

    def nll(self, x, y):
        L = torch.linalg.cholesky(self.cov(x))
        r = (y - self.mean).unsqueeze(-1)
        alpha = torch.cholesky_solve(r, L)
        fit = 0.5 * (r * alpha).sum()
        logdet = L.diagonal().log().sum()
        return (fit + logdet + 0.5 * len(x) * math.log(2 * math.pi)) / len(x)

    @torch.no_grad()
    def predict(self, x, y, xs):
        L = torch.linalg.cholesky(self.cov(x))
        ks = self.kernel(xs, x)
        mu = self.mean + ks @ torch.cholesky_solve((y - self.mean).unsqueeze(-1), L).squeeze(-1)
        v = torch.linalg.solve_triangular(L, ks.T, upper=False)
        var = (2 * self.kernel.log_sf).exp() - v.pow(2).sum(0)
        return mu, var.clamp(min=1e-9)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--n-train", type=int, default=60)
    ap.add_argument("--n-test", type=int, default=40)
    ap.add_argument("--steps", type=int, default=60)
    ap.add_argument("--lr", type=float, default=0.05)
    args = ap.parse_args()

    gen = torch.Generator().manual_seed(2024)
    x, y = make_data(args.n_train, gen)
    xs, ys = make_data(args.n_test, gen)
    gp = ExactGP(x.shape[1])
    opt = torch.optim.Adam(gp.parameters(), lr=args.lr)
    for step in range(args.steps):
        opt.zero_grad()
        loss = gp.nll(x, y)
        loss.backward()
        opt.step()
        if step % 10 == 0:
            ell = ", ".join(f"{v:.2f}" for v in gp.kernel.log_ell.exp().tolist())
            print(f"step {step:3d} nll {loss.item():.4f} noise {gp.log_noise.exp().item():.3f} ell [{ell}]")

    mu, var = gp.predict(x, y, xs)
    rmse = (mu - ys).pow(2).mean().sqrt()
    print(f"test rmse {rmse:.4f}  mean predictive sd {var.sqrt().mean():.4f}")


if __name__ == "__main__":
    main()
