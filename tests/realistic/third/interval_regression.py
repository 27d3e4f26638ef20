"""Income is asked in brackets; the lowest has no floor and the highest no ceiling."""
import torch
from torch import nn
from torch.distributions import Normal

EDGES = torch.tensor([-float("inf"), 1.0, 2.0, 3.5, 5.0, float("inf")])


def survey(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 4, generator=g)
    income = 2.5 + x[:, 0] - 0.7 * x[:, 1] + 0.5 * torch.randn(n, generator=g)
    bracket = torch.bucketize(income, EDGES[1:-1])
    return x, bracket, income


class Bracketed(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
        self.log_scale = nn.Parameter(torch.zeros(()))

    def forward(self, x):
        return self.mean(x).squeeze(1), self.log_scale.exp()


def cdf(edge, mean, scale):
    """0 and 1 at the open ends, without a gradient through them."""
    open_end = torch.isinf(edge)
    safe = torch.where(open_end, torch.zeros_like(edge), edge)
    inside = Normal(mean, scale).cdf(safe)
    return torch.where(open_end, (edge > 0).float(), inside)


def loss_of(mean, scale, bracket):
    low, high = EDGES[bracket], EDGES[bracket + 1]
    mass = cdf(high, mean, scale) - cdf(low, mean, scale)
    return -(mass.clamp(min=1e-6)).log().mean()


@torch.no_grad()
def widths(bracket):
    width = EDGES[bracket + 1] - EDGES[bracket]
    centre = (EDGES[bracket + 1] + EDGES[bracket]) / 2
    return torch.isinf(width).float().mean().item(), centre[torch.isfinite(centre)].mean().item()


def main():
    torch.manual_seed(8)
    torch.set_num_threads(1)
    x, bracket, _ = survey(600, 0)
    xt, bt, income = survey(150, 1)
    model = Bracketed()
    opt = torch.optim.Adam(model.parameters(), lr=0.01)
    open_share, centre = widths(bracket)
    print(f"{open_share:.2f} of the answers are open, the others centre at {centre:.2f}")
    best = torch.tensor(float("inf"))
    for epoch in range(12):
        for part in torch.randperm(len(x)).split(60):
            loss = loss_of(*model(x[part]), bracket[part])
            opt.zero_grad()
            loss.backward()
            opt.step()
        with torch.no_grad():
            mean, scale = model(xt)
            held_out = loss_of(mean, scale, bt)
            error = (mean - income).abs().mean()
        best = torch.minimum(best, held_out)
        print(f"epoch {epoch:2d} nll {held_out:.4f} best {best:.4f} error {error:.3f} scale {scale:.3f}")


if __name__ == "__main__":
    main()
