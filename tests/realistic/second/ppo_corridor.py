"""PPO on a small corridor task with variable-length episodes."""
import argparse
import random
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

torch.set_num_threads(1)


@dataclass
class Config:
    length: int = 9
    max_steps: int = 40
    gamma: float = 0.98
    lam: float = 0.95
    clip: float = 0.2
    lr: float = 3e-3
    epochs: int = 2
    minibatch: int = 16
    iterations: int = 14
    episodes_per_iter: int = 3
    ent_coef: float = 0.01
    vf_coef: float = 0.5
    seed: int = 8


class Corridor:
    def __init__(self, length, max_steps, rng):
        self.length, self.max_steps, self.rng = length, max_steps, rng

    def reset(self):
        self.pos = int(self.rng.integers(1, self.length - 1))
        self.t = 0
        return self._obs()

    def _obs(self):
        o = np.zeros(self.length, dtype=np.float32)
        o[self.pos] = 1.0
        return o

    def step(self, action):
        self.t += 1
        self.pos = max(0, self.pos + (1 if action == 1 else -1))
        goal = self.pos == self.length - 1
        reward = 1.0 if goal else -0.02
        return self._obs(), reward, goal or self.t >= self.max_steps


class ActorCritic(nn.Module):
    def __init__(self, obs_dim, n_actions):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs_dim, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh())
        self.pi = nn.Linear(32, n_actions)
        self.v = nn.Linear(32, 1)

    def forward(self, obs):
        h = self.body(obs)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


def gae(rewards, values, gamma, lam):
    adv, last = np.zeros(len(rewards), dtype=np.float32), 0.0
    for t in reversed(range(len(rewards))):
        nxt = values[t + 1] if t + 1 < len(values) else 0.0
        delta = rewards[t] + gamma * nxt - values[t]
        adv[t] = last = delta + gamma * lam * last
    return adv


def collect(env, net, cfg):
    buf = {k: [] for k in ("obs", "act", "logp", "adv", "ret")}
    ep_returns = []
    for _ in range(cfg.episodes_per_iter):
        obs, done, rewards, values = env.reset(), False, [], []
        while not done:
            with torch.no_grad():
                dist, v = net(torch.from_numpy(obs).unsqueeze(0))
                a = dist.sample()
            buf["obs"].append(obs)
            buf["act"].append(a.item())
            buf["logp"].append(dist.log_prob(a).item())
            values.append(v.item())
            obs, r, done = env.step(a.item())
            rewards.append(r)
        adv = gae(rewards, values, cfg.gamma, cfg.lam)
        buf["adv"].extend(adv)
        buf["ret"].extend(adv + np.asarray(values, dtype=np.float32))
        ep_returns.append(sum(rewards))
    out = {k: torch.as_tensor(np.asarray(v)) for k, v in buf.items()}
    return out, float(np.mean(ep_returns))


def update(net, opt, batch, cfg):
    n, losses = len(batch["act"]), []
    for _ in range(cfg.epochs):
        perm = torch.randperm(n)
        for idx in perm.split(cfg.minibatch):
            adv = batch["adv"][idx]
            adv = (adv - adv.mean()) / (adv.std() + 1e-8)
            dist, value = net(batch["obs"][idx])
            ratio = (dist.log_prob(batch["act"][idx]) - batch["logp"][idx].float()).exp()
            surr = torch.min(ratio * adv, ratio.clamp(1 - cfg.clip, 1 + cfg.clip) * adv)
            v_loss = F.mse_loss(value, batch["ret"][idx])
            loss = -surr.mean() + cfg.vf_coef * v_loss - cfg.ent_coef * dist.entropy().mean()
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            opt.step()
            losses.append(loss.item())
    return float(np.mean(losses))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--iterations", type=int, default=Config.iterations)
    parser.add_argument("--seed", type=int, default=Config.seed)
    args = parser.parse_args()
    cfg = Config(iterations=args.iterations, seed=args.seed)

    random.seed(cfg.seed)
    torch.manual_seed(cfg.seed)
    env = Corridor(cfg.length, cfg.max_steps, np.random.default_rng(cfg.seed))
    net = ActorCritic(cfg.length, 2)
    opt = torch.optim.Adam(net.parameters(), lr=cfg.lr, eps=1e-5)
    for it in range(cfg.iterations):
        batch, mean_ret = collect(env, net, cfg)
        loss = update(net, opt, batch, cfg)
        print(f"iter {it:02d}  steps {len(batch['act']):4d}  return {mean_ret:+.3f}  loss {loss:+.4f}")


if __name__ == "__main__":
    main()
