"""RealNVP fitted to samples of a truncated target; evidence by importance sampling."""
import math

import torch
import torch.nn as nn

BOX = 3.0


class Coupling(nn.Module):
    def __init__(self, flip, hidden=32):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(1, hidden), nn.Tanh(),
                                 nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 2))

    def _st(self, a):
        s, t = self.net(a).chunk(2, dim=1)
        return 1.5 * torch.tanh(s), t

    def forward(self, x):
        a, b = (x[:, 1:], x[:, :1]) if self.flip else (x[:, :1], x[:, 1:])
        s, t = self._st(a)
        b = (b - t) * torch.exp(-s)
        return torch.cat([b, a] if self.flip else [a, b], dim=1), -s.squeeze(1)

    def inverse(self, z):
        a, b = (z[:, 1:], z[:, :1]) if self.flip else (z[:, :1], z[:, 1:])
        s, t = self._st(a)
        b = b * torch.exp(s) + t
        return torch.cat([b, a] if self.flip else [a, b], dim=1)


class RealNVP(nn.Module):
    def __init__(self, layers=6):
        super().__init__()
        self.layers = nn.ModuleList(Coupling(i % 2 == 1) for i in range(layers))

    def log_prob(self, x):
        logdet = torch.zeros(len(x))
        for layer in self.layers:
            x, ld = layer(x)
            logdet = logdet + ld
        return -0.5 * x.pow(2).sum(1) - math.log(2 * math.pi) + logdet

    @torch.no_grad()
    def sample(self, n):
        z = torch.randn(n, 2)
        for layer in reversed(self.layers):
            z = layer.inverse(z)
        return z


def log_target(x):
    """Unnormalised ring, zero probability outside of the box (log 0 = -inf) or left of x = -2."""
    ring = -0.5 * ((x.norm(dim=1) - 2.0) / 0.35) ** 2
    inside = (x.abs() <= BOX).all(dim=1) & (x[:, 0] > -2.0)
    return torch.where(inside, ring, torch.full_like(ring, float("-inf")))


@torch.no_grad()
def metropolis(n_chains, steps, thin=10):
    """Start anywhere in the square; a start of zero probability is left at the first chance."""
    x = (torch.rand(n_chains, 2) * 2 - 1) * 1.2 * BOX
    lp = log_target(x)
    keep, best = [], torch.full((n_chains,), float("-inf"))
    for i in range(steps):
        prop = x + 0.6 * torch.randn_like(x)
        lq = log_target(prop)
        # -inf against -inf compares False, such chains move freely
        accept = (torch.rand(n_chains).log() < lq - lp) | torch.isneginf(lp)
        x = torch.where(accept[:, None], prop, x)
        lp = torch.where(accept, lq, lp)
        best = torch.maximum(best, lp)
        if i >= steps // 2 and i % thin == 0:
            keep.append(x[torch.isfinite(lp)])
    return torch.cat(keep), best


@torch.no_grad()
def log_evidence(flow, n=4000):
    x = flow.sample(n)
    lw = log_target(x) - flow.log_prob(x)
    logz = torch.logsumexp(lw, dim=0) - math.log(n)
    w = torch.softmax(lw, dim=0)
    return logz.item(), (1.0 / w.pow(2).sum()).item(), torch.isneginf(lw).float().mean().item()


def main():
    torch.manual_seed(29)
    data, best = metropolis(200, 300)
    print(f"{len(data)} samples, best log density {best.max().item():.4f}")
    flow = RealNVP()
    opt = torch.optim.Adam(flow.parameters(), lr=2e-3)
    for step in range(400):
        batch = data[torch.randint(0, len(data), (128,))]
        loss = -flow.log_prob(batch).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 100 == 0:
            logz, ess, out = log_evidence(flow)
            print(f"step {step} nll {loss.item():.4f} log Z {logz:.3f} ESS {ess:.0f} outside {out:.1%}")
    logz, ess, out = log_evidence(flow)
    print(f"final nll {loss.item():.4f} log Z {logz:.3f} ESS {ess:.0f} outside {out:.1%}")


if __name__ == "__main__":
    main()
