"""Behaviour cloning of a throttle: a Beta policy fitted to recorded driving."""
import argparse

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Beta
from torch.utils.data import DataLoader, Dataset


class DrivingLog(Dataset):
    """Speed, slope and distance to the car in front; the throttle that the driver gave."""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.state = torch.randn(n, 3, generator=g)
        want = 0.5 - 0.15 * self.state[:, 0] + 0.1 * self.state[:, 1] + 0.1 * self.state[:, 2]
        want = want + 0.05 * torch.randn(n, generator=g)
        self.throttle = want.clamp(0.0, 1.0)

    def __len__(self):
        return len(self.state)

    def __getitem__(self, i):
        return self.state[i], self.throttle[i]


class BetaPolicy(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(3, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.head = nn.Linear(hidden, 2)

    def forward(self, state):
        raw = self.head(self.trunk(state))
        alpha, beta = (F.softplus(raw) + 1.0).unbind(-1)
        return Beta(alpha, beta)


def evaluate(policy, data):
    with torch.no_grad():
        dist = policy(data.state)
        return (dist.mean - data.throttle).abs().mean().item()


def train(args):
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    train_set, test_set = DrivingLog(1500, 1), DrivingLog(300, 2)
    loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True)
    policy = BetaPolicy()
    opt = torch.optim.Adam(policy.parameters(), lr=args.lr)
    best = float("inf")
    for epoch in range(args.epochs):
        total = 0.0
        for state, throttle in loader:
            nll = -policy(state).log_prob(throttle).mean()
            opt.zero_grad()
            nll.backward()
            nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
            opt.step()
            total += nll.item()
        error = evaluate(policy, test_set)
        best = min(best, error)
        print(f"epoch {epoch} nll {total / len(loader):+.4f} error {error:.4f} best {best:.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=0)
    train(parser.parse_args())
