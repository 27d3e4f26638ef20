"""Exp: the importance ratio of a policy gradient, once the policy has moved far away."""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
log_std = nn.Parameter(torch.zeros(2))
optimizer = torch.optim.Adam([*policy.parameters(), log_std], lr=3e-2)


def surrogate(states, actions, advantages, old_log_prob):
    log_prob = Normal(policy(states), log_std.exp()).log_prob(actions).sum(-1)
    ratio = torch.exp(log_prob - old_log_prob)
    return -(ratio * advantages).mean()


for update in range(60):
    states = torch.randn(64, 4)
    with torch.no_grad():
        old = Normal(policy(states), 0.5 if update < 8 else 0.02)  # it has become very certain
        actions = old.sample()
        if update >= 8:
            actions[::16] = torch.randn(4, 2)  # from a replay buffer: not its own actions
        old_log_prob = old.log_prob(actions).sum(-1)
    advantages = torch.randn(64)
    loss = surrogate(states, actions, advantages, old_log_prob)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"update {update}  loss {loss.item():.3g}")
