"""REINFORCE with invalid-action masking: fill a row of slots without taking one twice."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    slots: int = 6
    batch: int = 48
    iters: int = 150
    lr: float = 4e-3
    ent_coef: float = 0.02
    seed: int = 16


def masked_log_probs(logits, valid):
    """log-probabilities; invalid actions have -inf."""
    return F.log_softmax(logits.masked_fill(~valid, float("-inf")), dim=-1)


def entropy(logp, valid):
    safe = logp.masked_fill(~valid, 0.0)
    return -(safe.exp() * safe * valid).sum(-1)


class Policy(nn.Module):
    def __init__(self, slots):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2 * slots, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.pi = nn.Linear(64, slots)
        self.v = nn.Linear(64, 1)

    def forward(self, values, valid):
        h = self.body(torch.cat([values, valid.float()], dim=1))
        return self.pi(h), self.v(h).squeeze(1)


def rollout(policy, cfg, gen):
    """Earlier picks count more, so the best order is by falling value."""
    values = torch.rand(cfg.batch, cfg.slots, generator=gen)
    valid = torch.ones(cfg.batch, cfg.slots, dtype=torch.bool)
    logps, ents, base, rewards = [], [], [], []
    for t in range(cfg.slots - 1):
        logits, v = policy(values, valid)
        logp = masked_log_probs(logits, valid)
        a = torch.multinomial(logp.detach().exp(), 1, generator=gen)
        logps.append(logp.gather(1, a).squeeze(1))
        ents.append(entropy(logp, valid))
        base.append(v)
        rewards.append(values.gather(1, a).squeeze(1) * 0.6 ** t)
        valid = valid.scatter(1, a, False)
    returns = torch.stack(rewards).flip(0).cumsum(0).flip(0)
    return torch.stack(logps), torch.stack(ents), torch.stack(base), returns


@torch.no_grad()
def greedy_value(policy, cfg, gen):
    values = torch.rand(500, cfg.slots, generator=gen)
    valid = torch.ones_like(values, dtype=torch.bool)
    total = torch.zeros(500)
    for t in range(cfg.slots - 1):
        logits, _ = policy(values, valid)
        a = masked_log_probs(logits, valid).argmax(1, keepdim=True)
        total += values.gather(1, a).squeeze(1) * 0.6 ** t
        valid = valid.scatter(1, a, False)
    ideal = values.sort(dim=1, descending=True).values[:, :-1]
    weights = 0.6 ** torch.arange(cfg.slots - 1)
    return (total / (ideal * weights).sum(1)).mean().item()


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    gen = torch.Generator().manual_seed(cfg.seed)
    policy = Policy(cfg.slots)
    opt = torch.optim.Adam(policy.parameters(), lr=cfg.lr)
    low, high = float("inf"), float("-inf")
    for it in range(cfg.iters):
        logp, ent, base, ret = rollout(policy, cfg, gen)
        adv = (ret - base).detach()
        adv = (adv - adv.mean()) / (adv.std() + 1e-6)
        loss = -(adv * logp).mean() + 0.5 * (ret - base).pow(2).mean() - cfg.ent_coef * ent.mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        opt.step()
        low, high = min(low, loss.item()), max(high, loss.item())
        if it % 25 == 0:
            print(f"iter {it} loss {loss.item():.4f} entropy {ent.mean().item():.3f} "
                  f"greedy/ideal {greedy_value(policy, cfg, gen):.3f}")
    print(f"loss range [{low:.4f}, {high:.4f}], final greedy/ideal {greedy_value(policy, cfg, gen):.3f}")


if __name__ == "__main__":
    main()
