"""A small transformer in float16: one batch was not normalised, and its scores overflow.

The page of its finding has every picture: a map, histograms at the end of their type, modules of
several colours, a branch that was cleaned.
"""

import torch
from torch import nn

torch.manual_seed(0)


class Attention(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.query(x), self.key(x), self.value(x)
        scores = q @ k.transpose(-1, -2)
        scores = scores / q.shape[-1] ** 0.5
        future = torch.ones_like(scores, dtype=torch.bool).triu(1)
        scores = scores.masked_fill(future, float("-inf"))
        shown.append(scores.clamp(-50, 50).mean().item())
        return torch.softmax(scores, dim=-1) @ v


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.attention = Attention(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(x)
        return x + self.down(torch.relu(self.up(x)))


class Model(nn.Module):
    def __init__(self, width: int = 32, depth: int = 4) -> None:
        super().__init__()
        self.embed = nn.Linear(12, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.head = nn.Linear(width, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.embed(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x).squeeze(-1)


def batch(step: int) -> tuple[torch.Tensor, torch.Tensor]:
    pixels = torch.randint(0, 256, (8, 24, 12)).float()
    features = pixels / 255 if step != 9 else pixels  # one loader forgot to normalise
    return features.half(), features.mean(-1).half()


def train(model: nn.Module, steps: int) -> None:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(steps):
        x, y = batch(step)
        loss = ((model(x) - y) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


shown: list[float] = []
train(Model().half(), 20)
