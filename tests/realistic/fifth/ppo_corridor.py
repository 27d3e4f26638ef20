"""PPO on a small stochastic corridor with episodes of varying length."""
from dataclasses import dataclass

import torch
import torch.nn as nn
from torch.distributions import Categorical


@dataclass
class PPOConfig:
    episodes_per_iter: int = 6
    iterations: int = 80
    minibatch: int = 16
    epochs: int = 2
    gamma: float = 0.97
    lam: float = 0.95
    clip: float = 0.2
    ent_coef: float = 0.01
    vf_coef: float = 0.5
    lr: float = 3e-3
    seed: int = 1


class Corridor:
    """Walk to the right end; the wind sometimes holds the walker."""
    length = 7

    def __init__(self, gen):
        self.gen = gen

    def reset(self):
        self.pos, self.t = 2, 0
        return self._obs()

    def _obs(self):
        o = torch.zeros(self.length)
        o[self.pos] = 1.0
        return o

    def step(self, a):
        move = 1 if a == 1 else -1
        if torch.rand((), generator=self.gen) < 0.2:
            move = 0
        self.pos = max(0, self.pos + move)
        self.t += 1
        win = self.pos == self.length - 1
        return self._obs(), (1.0 if win else -0.02), win or self.t >= 40


class ActorCritic(nn.Module):
    def __init__(self, obs, acts):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(obs, 32), nn.Tanh(), nn.Linear(32, acts))
        self.v = nn.Sequential(nn.Linear(obs, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, x):
        return Categorical(logits=self.pi(x)), self.v(x).squeeze(-1)


@torch.no_grad()
def collect(env, net, cfg):
    buf = {k: [] for k in ("obs", "act", "logp", "adv", "ret")}
    returns = []
    for _ in range(cfg.episodes_per_iter):
        obs, done = env.reset(), False
        ep = []
        while not done:
            dist, v = net(obs)
            a = dist.sample()
            nxt, r, done = env.step(int(a))
            ep.append((obs, a, dist.log_prob(a), v, r))
            obs = nxt
        gae, next_v = 0.0, 0.0
        for o, a, lp, v, r in reversed(ep):
            gae = r + cfg.gamma * next_v - v + cfg.gamma * cfg.lam * gae
            next_v = v
            for k, val in zip(buf, (o, a, lp, gae, gae + v)):
                buf[k].append(val)
        returns.append(sum(e[-1] for e in ep))
    return {k: torch.stack(v) for k, v in buf.items()}, sum(returns) / len(returns)


def ppo_loss(net, mb, cfg):
    dist, v = net(mb["obs"])
    adv = mb["adv"]
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    ratio = torch.exp(dist.log_prob(mb["act"]) - mb["logp"])
    surr = torch.min(ratio * adv, ratio.clamp(1 - cfg.clip, 1 + cfg.clip) * adv)
    value = (v - mb["ret"]).pow(2).mean()
    return -surr.mean() + cfg.vf_coef * value - cfg.ent_coef * dist.entropy().mean()


def main():
    cfg = PPOConfig()
    torch.manual_seed(cfg.seed)
    env = Corridor(torch.Generator().manual_seed(cfg.seed))
    net = ActorCritic(Corridor.length, 2)
    opt = torch.optim.Adam(net.parameters(), lr=cfg.lr, eps=1e-5)
    for it in range(cfg.iterations):
        data, avg_ret = collect(env, net, cfg)
        n = len(data["act"])
        for _ in range(cfg.epochs):
            for idx in torch.randperm(n).split(cfg.minibatch):
                loss = ppo_loss(net, {k: v[idx] for k, v in data.items()}, cfg)
                opt.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(net.parameters(), 0.5)
                opt.step()
        if it % 10 == 0:
            print(f"iter {it:3d} steps {n:3d} return {avg_ret:.3f} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
