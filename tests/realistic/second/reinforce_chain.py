"""REINFORCE with an exponential-moving baseline on a growing chain environment.

Rollouts have a fixed number of environment steps and episodes continue across
rollouts, as in most vectorised implementations.
"""
import argparse
import warnings

import numpy as np
import torch
import torch.nn as nn

warnings.filterwarnings("ignore", category=RuntimeWarning)
torch.set_num_threads(1)


class ChainEnv:
    def __init__(self, n, n_max, slip, rng):
        self.n, self.n_max, self.slip, self.rng = n, n_max, slip, rng
        self.state = 0

    def grow(self):
        self.n = min(self.n + 2, self.n_max)

    def observe(self):
        return np.eye(self.n_max, dtype=np.float32)[self.state]

    def act(self, a):
        if self.rng.random() < self.slip:
            a = 1 - a
        self.state = min(self.n - 1, self.state + 1) if a == 1 else max(0, self.state - 1)
        done = self.state == self.n - 1
        r = 1.0 if done else -0.01
        if done:
            self.state = 0
        return r, done


class Policy(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.l1 = nn.Linear(n, 24)
        self.l2 = nn.Linear(24, 2)

    def forward(self, x):
        return torch.log_softmax(self.l2(torch.tanh(self.l1(x))), dim=-1)


class RewardTracker:
    """Moving statistics of finished episodes, kept as plain floats for logging."""

    def __init__(self, momentum=0.9):
        self.momentum = momentum
        self.baseline = 0.0
        self.running = 0.0
        self.finished = []

    def add(self, r, done):
        self.running += r
        if done:
            self.finished.append(self.running)
            self.running = 0.0

    def flush(self):
        mean_ret = float(np.mean(self.finished))
        self.baseline = self.momentum * self.baseline + (1 - self.momentum) * mean_ret
        self.finished.clear()
        return mean_ret


def discounted(rewards, dones, gamma):
    out, acc = np.zeros(len(rewards), dtype=np.float32), 0.0
    for t in range(len(rewards) - 1, -1, -1):
        acc = rewards[t] + gamma * acc * (1.0 - dones[t])
        out[t] = acc
    return out


def train(args):
    rng = np.random.default_rng(args.seed)
    torch.manual_seed(args.seed)
    env = ChainEnv(4, args.length, 0.1, rng)
    policy, tracker = Policy(args.length), RewardTracker()
    optimizer = torch.optim.RMSprop(policy.parameters(), lr=args.lr)

    for it in range(args.iters):
        if it and it % 6 == 0:
            env.grow()
        logps, rewards, dones, ents = [], [], [], []
        for _ in range(args.rollout):
            lp = policy(torch.from_numpy(env.observe()))
            a = torch.multinomial(lp.detach().exp(), 1).item()
            r, done = env.act(a)
            tracker.add(r, done)
            logps.append(lp[a])
            ents.append(-(lp.exp() * lp).sum())
            rewards.append(r)
            dones.append(float(done))

        ret = torch.from_numpy(discounted(rewards, dones, args.gamma))
        adv = ret - tracker.baseline
        loss = -(torch.stack(logps) * adv).mean() - args.entropy * torch.stack(ents).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        n_done = len(tracker.finished)
        mean_ret = tracker.flush()
        print(f"it {it:3d} loss {loss.item():+.4f} episodes {n_done} return {mean_ret:+.3f} baseline {tracker.baseline:+.3f}")
    return policy


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--length", type=int, default=10)
    ap.add_argument("--iters", type=int, default=30)
    ap.add_argument("--rollout", type=int, default=30)
    ap.add_argument("--gamma", type=float, default=0.97)
    ap.add_argument("--lr", type=float, default=5e-3)
    ap.add_argument("--entropy", type=float, default=0.01)
    ap.add_argument("--seed", type=int, default=5)
    train(ap.parse_args())
