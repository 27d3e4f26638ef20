"""REINFORCE with invalid-action masking on a toy bin-packing task, GAE-free, moving-average baseline."""
import argparse
from collections import deque

import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)

NEG_INF = -np.inf


class Packing:
    """Place items of random size into bins; a bin is a legal action only if the item fits."""

    def __init__(self, n_bins, rng):
        self.n_bins, self.rng = n_bins, rng

    def reset(self):
        self.free = np.ones(self.n_bins, dtype=np.float32)
        self._draw()
        return self.obs()

    def _draw(self):
        self.item = float(self.rng.uniform(0.15, 0.5))

    def obs(self):
        return np.append(self.free, self.item).astype(np.float32)

    def legal(self):
        return self.free >= self.item

    def step(self, a):
        assert self.legal()[a]
        self.free[a] -= self.item
        reward = self.item
        self._draw()
        return self.obs(), reward, not self.legal().any()


class MaskedPolicy(nn.Module):
    def __init__(self, n_bins, hidden=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_bins + 1, hidden), nn.Tanh(), nn.Linear(hidden, n_bins))

    def forward(self, obs, legal):
        logits = self.net(obs).masked_fill(~legal, NEG_INF)
        return logits.log_softmax(-1)


def entropy(logp):
    finite = torch.where(torch.isinf(logp), torch.zeros_like(logp), logp)
    return -(finite.exp() * finite * ~torch.isinf(logp)).sum(-1)


def rollout(env, policy):
    obs, done = env.reset(), False
    traj = {"obs": [], "legal": [], "act": [], "rew": []}
    while not done:
        legal = env.legal()
        with torch.no_grad():
            logp = policy(torch.from_numpy(obs), torch.from_numpy(legal))
        a = torch.multinomial(logp.exp(), 1).item()
        traj["obs"].append(obs)
        traj["legal"].append(legal)
        traj["act"].append(a)
        obs, r, done = env.step(a)
        traj["rew"].append(r)
    return traj


def returns_to_go(rew):
    return np.cumsum(np.asarray(rew, dtype=np.float32)[::-1])[::-1].copy()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--bins", type=int, default=4)
    ap.add_argument("--iters", type=int, default=16)
    ap.add_argument("--episodes", type=int, default=5)
    ap.add_argument("--lr", type=float, default=1e-2)
    ap.add_argument("--ent", type=float, default=0.01)
    args = ap.parse_args()

    torch.manual_seed(0)
    env = Packing(args.bins, np.random.default_rng(0))
    policy = MaskedPolicy(args.bins)
    opt = torch.optim.Adam(policy.parameters(), lr=args.lr)
    history, best = deque(maxlen=60), NEG_INF
    for it in range(args.iters):
        batch = [rollout(env, policy) for _ in range(args.episodes)]
        obs = torch.from_numpy(np.concatenate([np.stack(t["obs"]) for t in batch]))
        legal = torch.from_numpy(np.concatenate([np.stack(t["legal"]) for t in batch]))
        act = torch.tensor([a for t in batch for a in t["act"]])
        ret = torch.from_numpy(np.concatenate([returns_to_go(t["rew"]) for t in batch]))
        adv = (ret - ret.mean()) / (ret.std() + 1e-6)
        logp = policy(obs, legal)
        chosen = logp.gather(1, act[:, None]).squeeze(1)
        loss = -(chosen * adv).mean() - args.ent * entropy(logp).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        history.extend(sum(t["rew"]) for t in batch)
        best = max(best, max(history))
        if it % 5 == 0:
            worst = logp.min().item()
            print(f"it {it:3d} loss {loss.item():+.4f} fill {np.mean(history):.3f} best {best:.3f} min logp {worst}")
    assert all(p.isfinite().all() for p in policy.parameters())


if __name__ == "__main__":
    main()
