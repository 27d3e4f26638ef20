"""Behaviour cloning of a PD controller with a tanh-squashed Gaussian policy."""
import argparse
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def simulate_expert(n_episodes, horizon, seed):
    """Roll out a saturated PD controller on a double integrator."""
    g = torch.Generator().manual_seed(seed)
    states, actions = [], []
    for _ in range(n_episodes):
        pos = torch.randn((), generator=g) * 0.45
        vel = torch.randn((), generator=g) * 0.15
        for _ in range(horizon):
            u = -1.1 * pos - 0.7 * vel + 0.03 * torch.randn((), generator=g)
            a = u.clamp(-1.0, 1.0)
            states.append(torch.stack([pos, vel]))
            actions.append(a)
            vel = vel + 0.1 * a
            pos = pos + 0.1 * vel
    return torch.stack(states), torch.stack(actions).unsqueeze(1)


class SquashedGaussian(nn.Module):
    def __init__(self, obs_dim, act_dim, hidden=64):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(obs_dim, hidden), nn.Tanh(),
            nn.Linear(hidden, hidden), nn.Tanh(),
        )
        self.mean = nn.Linear(hidden, act_dim)
        self.log_std = nn.Linear(hidden, act_dim)

    def forward(self, obs):
        h = self.body(obs)
        return self.mean(h), self.log_std(h).clamp(-4.0, 1.0)

    def log_prob(self, obs, act):
        mean, log_std = self(obs)
        pre = torch.atanh(act)
        z = (pre - mean) * torch.exp(-log_std)
        base = -0.5 * z.pow(2) - log_std - 0.5 * math.log(2 * math.pi)
        # change of variables, written with softplus for stability
        correction = 2.0 * (math.log(2.0) - pre - nn.functional.softplus(-2.0 * pre))
        return (base - correction).sum(dim=1)

    @torch.no_grad()
    def act(self, obs):
        mean, _ = self(obs)
        return torch.tanh(mean)


def evaluate(policy, seed, episodes=10, horizon=40):
    g = torch.Generator().manual_seed(seed)
    s = torch.randn(episodes, 2, generator=g) * torch.tensor([0.45, 0.15])
    cost = torch.zeros(episodes)
    for _ in range(horizon):
        a = policy.act(s).squeeze(1)
        vel = s[:, 1] + 0.1 * a
        pos = s[:, 0] + 0.1 * vel
        s = torch.stack([pos, vel], dim=1)
        cost += pos.pow(2) + 0.1 * vel.pow(2)
    return cost.mean().item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--episodes", type=int, default=80)
    p.add_argument("--horizon", type=int, default=30)
    p.add_argument("--epochs", type=int, default=6)
    p.add_argument("--lr", type=float, default=3e-4)
    p.add_argument("--seed", type=int, default=7)
    args = p.parse_args()

    torch.manual_seed(args.seed)
    obs, act = simulate_expert(args.episodes, args.horizon, args.seed)
    loader = DataLoader(TensorDataset(obs, act), batch_size=32, shuffle=True)
    policy = SquashedGaussian(2, 1)
    opt = torch.optim.Adam(policy.parameters(), lr=args.lr)

    for epoch in range(args.epochs):
        running = 0.0
        for o, a in loader:
            nll = -policy.log_prob(o, a).mean()
            opt.zero_grad()
            nll.backward()
            nn.utils.clip_grad_norm_(policy.parameters(), 5.0)
            opt.step()
            running += nll.item() * len(o)
        print(f"epoch {epoch} nll {running / len(obs):.4f} "
              f"closed-loop cost {evaluate(policy, 100 + epoch):.3f}")


if __name__ == "__main__":
    main()
