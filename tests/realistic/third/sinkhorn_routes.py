"""Learns costs of a transport plan; closed roads cost inf, empty depots have mass 0."""
import torch
import torch.nn as nn


def instance(g, depots=5, shops=6):
    supply = torch.rand(depots, generator=g)
    supply[int(torch.randint(1, depots, (1,), generator=g))] = 0.0       # an empty depot
    supply = supply / supply.sum()
    demand = torch.rand(shops, generator=g) + 0.2
    demand = demand / demand.sum()
    closed = torch.rand(depots, shops, generator=g) < 0.15
    closed[:, 0] = False
    closed[0] = False
    where = torch.rand(depots, 2, generator=g), torch.rand(shops, 2, generator=g)
    return supply, demand, closed, where


class Cost(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 1), nn.Softplus())

    def forward(self, where, closed):
        a, b = where
        pairs = torch.cat([a[:, None].expand(-1, len(b), -1), b[None].expand(len(a), -1, -1)], -1)
        return self.net(pairs).squeeze(-1).masked_fill(closed, float("inf"))


def sinkhorn(cost, supply, demand, eps=0.2, rounds=30):
    """Log-domain; a depot without mass keeps log(0) = -inf, and its row of the plan is 0."""
    kernel = -cost / eps
    log_a, log_b = supply.log(), demand.log()
    alive = supply > 0
    f = torch.zeros_like(supply)
    for _ in range(rounds):
        g = log_b - torch.logsumexp(kernel[alive] + f[alive, None], 0)
        f = torch.where(alive, log_a - torch.logsumexp(kernel + g, 1), torch.zeros(()))
    plan = (kernel + f[:, None] + g).exp()
    return plan * alive[:, None]


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    g = torch.Generator().manual_seed(3)
    model = Cost()
    opt = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(80):
        supply, demand, closed, where = instance(g)
        true_cost = torch.cdist(*where)
        with torch.no_grad():
            wanted = sinkhorn(true_cost.masked_fill(closed, float("inf")), supply, demand)
        plan = sinkhorn(model(where, closed), supply, demand)
        loss = (plan - wanted).abs().sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 0:
            nearest = model(where, closed).detach().amin(1)
            print(f"step {step:2d} gap {loss.item():.4f} cheapest {nearest.min().item():.3f}")


if __name__ == "__main__":
    main()
