"""Active survey with an exact GP (Matern 3/2); hyper-parameters refitted after each visit."""
import math

import torch
from torch import nn


def field(xy):
    return torch.sin(0.7 * xy[:, 0]) * torch.cos(0.5 * xy[:, 1]) + 0.1 * xy[:, 0]


def pairwise(a, b):
    """Euclidean distances by the expansion |a|^2 + |b|^2 - 2 a.b (no big temporary)."""
    sq = a.pow(2).sum(1, keepdim=True) + b.pow(2).sum(1) - 2.0 * a @ b.t()
    return sq.sqrt()


class ExactGP(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_ls = nn.Parameter(torch.tensor(0.5))
        self.log_amp = nn.Parameter(torch.tensor(0.0))
        self.log_noise = nn.Parameter(torch.tensor(-2.0))
        self.mean = nn.Parameter(torch.tensor(0.0))

    def kernel(self, dist):
        r = math.sqrt(3.0) * dist / self.log_ls.exp()
        return self.log_amp.exp() ** 2 * (1.0 + r) * torch.exp(-r)

    def _chol(self, x):
        k = self.kernel(pairwise(x, x))
        noise = self.log_noise.exp() ** 2 + 1e-4
        return torch.linalg.cholesky(k + noise * torch.eye(len(x)))

    def nll(self, x, y):
        chol = self._chol(x)
        res = (y - self.mean).unsqueeze(1)
        alpha = torch.cholesky_solve(res, chol)
        fit = 0.5 * (res * alpha).sum()
        logdet = chol.diagonal().log().sum()
        return (fit + logdet + 0.5 * len(x) * math.log(2 * math.pi)) / len(x)

    @torch.no_grad()
    def predict(self, x, y, q):
        chol = self._chol(x)
        kq = self.kernel(pairwise(q, x))
        alpha = torch.cholesky_solve((y - self.mean).unsqueeze(1), chol)
        mu = self.mean + (kq @ alpha).squeeze(1)
        v = torch.linalg.solve_triangular(chol, kq.t(), upper=False)
        var = self.log_amp.exp() ** 2 - v.pow(2).sum(0)
        return mu, var.clamp_min(1e-9)


def fit(gp, x, y, steps=25):
    opt = torch.optim.Adam(gp.parameters(), lr=0.05)
    for _ in range(steps):
        opt.zero_grad()
        loss = gp.nll(x, y)
        loss.backward()
        opt.step()
    return loss.item()


def main():
    torch.manual_seed(4)
    # the first visits are on the corner stones of the map grid (km)
    g = torch.tensor([0.0, 4.0, 8.0])
    x = torch.cartesian_prod(g, g)
    y = field(x) + 0.05 * torch.randn(len(x))
    test = torch.rand(200, 2) * 8.0

    gp = ExactGP()
    print(f"start: {len(x)} points, nll {fit(gp, x, y, 60):.4f}")
    for visit in range(25):
        cand = torch.rand(300, 2) * 8.0
        _, var = gp.predict(x, y, cand)
        new = cand[var.argmax()].unsqueeze(0)
        x = torch.cat([x, new])
        y = torch.cat([y, field(new) + 0.05 * torch.randn(1)])
        nll = fit(gp, x, y)
        mu, _ = gp.predict(x, y, test)
        rmse = (mu - field(test)).pow(2).mean().sqrt().item()
        print(f"visit {visit:2d} n {len(x)} nll {nll:.4f} rmse {rmse:.4f} "
              f"ls {gp.log_ls.exp().item():.2f}")


if __name__ == "__main__":
    main()
