# PPO: advantages normalised in a minibatch of one sample
# expect: error
# phase: forward
# op: aten::std | aten::std_mean | aten::var
# line: 81
# cause: empty_reduction
import torch
import torch.nn.functional as F
from dataclasses import dataclass
from torch import nn
from torch.distributions import Categorical


@dataclass
class Rollout:
    obs: torch.Tensor
    legal: torch.Tensor
    action: torch.Tensor
    logp: torch.Tensor
    reward: torch.Tensor
    done: torch.Tensor
    value: torch.Tensor


class ActorCritic(nn.Module):
    def __init__(self, obs=5, actions=4, hidden=16):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs, hidden), nn.Tanh())
        self.pi = nn.Linear(hidden, actions)
        self.v = nn.Linear(hidden, 1)

    def forward(self, obs, legal):
        h = self.body(obs)
        logits = self.pi(h).masked_fill(~legal, float("-inf"))  # illegal moves
        return Categorical(logits=logits), self.v(h).squeeze(-1)


class GridWorld:
    def reset(self):
        self.t, self.x = 0, torch.randn(5)
        return self.x

    def legal(self):
        mask = self.x[:4] < 1.0
        mask[self.t % 4] = True
        return mask

    def step(self, action):
        reward = float(self.x[action] > 0)
        self.t, self.x = self.t + 1, torch.randn(5)
        return self.x, reward, self.t >= 8


@torch.no_grad()
def collect(env, agent, length):
    rows, obs = [], env.reset()
    for _ in range(length):
        legal = env.legal()
        dist, value = agent(obs, legal)
        action = dist.sample()
        following, reward, done = env.step(action.item())
        rows.append((obs, legal, action, dist.log_prob(action), torch.tensor(reward), torch.tensor(float(done)), value))
        obs = env.reset() if done else following
    return Rollout(*(torch.stack(column) for column in zip(*rows)))


def gae(roll, gamma=0.97, lam=0.9):
    advantage, running, following = torch.zeros_like(roll.value), 0.0, 0.0
    for t in reversed(range(len(roll.value))):
        alive = 1.0 - roll.done[t]
        delta = roll.reward[t] + gamma * following * alive - roll.value[t]
        running = delta + gamma * lam * alive * running
        advantage[t], following = running, roll.value[t]
    return advantage, advantage + roll.value


def update(agent, optimizer, roll, batch=16, clip=0.2):
    advantage, returns = gae(roll)
    for index in torch.randperm(len(advantage)).split(batch):
        adv = advantage[index]
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        dist, value = agent(roll.obs[index], roll.legal[index])
        ratio = (dist.log_prob(roll.action[index]) - roll.logp[index]).exp()
        policy = -torch.min(ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv).mean()
        loss = policy + 0.5 * F.mse_loss(value, returns[index]) - 0.01 * dist.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
        optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(11)
    env, agent = GridWorld(), ActorCritic()
    optimizer = torch.optim.Adam(agent.parameters(), lr=3e-3)
    for iteration, length in enumerate([32, 32, 33]):  # the last rollout ends on a whole episode
        roll = collect(env, agent, length)
        print(iteration, round(update(agent, optimizer, roll), 3), roll.reward.mean().item())


main()
