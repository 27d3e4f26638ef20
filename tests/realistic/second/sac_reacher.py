"""Soft actor-critic on a one-dimensional reaching task."""
import argparse
import copy
import random
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
LOG_STD_MIN, LOG_STD_MAX = -5, 2


def mlp(i, h, o):
    return nn.Sequential(nn.Linear(i, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, o))


class Actor(nn.Module):
    def __init__(self, obs_dim, act_dim, hidden=32):
        super().__init__()
        self.net = mlp(obs_dim, hidden, 2 * act_dim)

    def forward(self, obs):
        mu, log_std = self.net(obs).chunk(2, dim=-1)
        return mu, log_std.clamp(LOG_STD_MIN, LOG_STD_MAX)

    def sample(self, obs):
        mu, log_std = self(obs)
        normal = torch.distributions.Normal(mu, log_std.exp())
        u = normal.rsample()
        action = torch.tanh(u)
        logp = normal.log_prob(u) - torch.log1p(-action.pow(2))
        return action, logp.sum(-1, keepdim=True)


class Critic(nn.Module):
    def __init__(self, obs_dim, act_dim, hidden=32):
        super().__init__()
        self.q1, self.q2 = mlp(obs_dim + act_dim, hidden, 1), mlp(obs_dim + act_dim, hidden, 1)

    def forward(self, obs, act):
        x = torch.cat([obs, act], -1)
        return self.q1(x), self.q2(x)


class Replay:
    def __init__(self, size):
        self.data = deque(maxlen=size)

    def add(self, *transition):
        self.data.append(transition)

    def sample(self, n):
        return [torch.stack(x) for x in zip(*random.sample(self.data, n))]


class Reacher:
    """Drive a cart from x=-6 to the origin; far away, full thrust is best."""

    def reset(self):
        self.x, self.v, self.t = -6.0 + random.random(), 0.0, 0
        return self.obs()

    def obs(self):
        return torch.tensor([self.x, self.v])

    def step(self, a):
        self.v = 0.9 * self.v + 0.2 * a
        self.x += self.v
        self.t += 1
        return self.obs(), -abs(self.x), self.t >= 25


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=330)
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--gamma", type=float, default=0.97)
    p.add_argument("--tau", type=float, default=0.02)
    p.add_argument("--alpha", type=float, default=0.02)
    p.add_argument("--lr", type=float, default=5e-3)
    p.add_argument("--warmup", type=int, default=80)
    args = p.parse_args()

    random.seed(0)
    torch.manual_seed(0)
    env, buf = Reacher(), Replay(5000)
    actor, critic = Actor(2, 1), Critic(2, 1)
    target = copy.deepcopy(critic).requires_grad_(False)
    opt_a = torch.optim.Adam(actor.parameters(), lr=args.lr)
    opt_c = torch.optim.Adam(critic.parameters(), lr=args.lr)

    obs, ep_ret, returns = env.reset(), 0.0, []
    for step in range(args.steps):
        if step < args.warmup:
            act = torch.rand(1) * 2 - 1
        else:
            with torch.no_grad():
                act = torch.tanh(actor(obs)[0])
        nxt, rew, done = env.step(act.item())
        buf.add(obs, act, torch.tensor([rew]), nxt, torch.tensor([float(done)]))
        obs, ep_ret = nxt, ep_ret + rew
        if done:
            returns.append(ep_ret)
            obs, ep_ret = env.reset(), 0.0
        if step < args.warmup:
            continue

        o, a, r, o2, d = buf.sample(args.batch)
        with torch.no_grad():
            a2, logp2 = actor.sample(o2)
            y = r + args.gamma * (1 - d) * (torch.min(*target(o2, a2)) - args.alpha * logp2)
        q1, q2 = critic(o, a)
        c_loss = F.mse_loss(q1, y) + F.mse_loss(q2, y)
        opt_c.zero_grad()
        c_loss.backward()
        opt_c.step()

        pi, logp = actor.sample(o)
        a_loss = (args.alpha * logp - torch.min(*critic(o, pi))).mean()
        opt_a.zero_grad()
        a_loss.backward()
        opt_a.step()

        with torch.no_grad():
            for tp, sp in zip(target.parameters(), critic.parameters()):
                tp.lerp_(sp, args.tau)
        if step % 25 == 0:
            last = returns[-1] if returns else 0.0
            print(f"step {step:4d} critic {c_loss.item():9.4f} actor {a_loss.item():8.4f} return {last:8.2f}")


if __name__ == "__main__":
    main()
