"""Three small trainings that run on any device."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

KINDS = ("mlp", "cnn", "gpt")
SHAPES = {"mlp": (8, 16), "cnn": (4, 1, 12, 12), "gpt": (4, 6, 16)}


class Attention(nn.Module):
    """A causal self-attention, written out."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.mix, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.mix(x).chunk(3, -1)
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        mask = torch.ones(scores.shape[-2:], device=x.device).tril() == 0
        return self.out(scores.masked_fill(mask, float("-inf")).softmax(-1) @ v)


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width)
        self.feed = nn.Sequential(nn.Linear(width, 32), nn.GELU(), nn.Linear(32, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.first(x))
        return x + self.feed(self.second(x))


def model(kind: str) -> nn.Module:
    if kind == "mlp":
        return nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Dropout(0.1), nn.Linear(32, 4))
    if kind == "cnn":
        return nn.Sequential(
            nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(inplace=True),
            nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(32, 4),
        )  # fmt: skip
    return nn.Sequential(Block(16), Block(16), nn.Linear(16, 4))


def losses(kind: str, device: str, steps: int = 4) -> list[float]:
    torch.manual_seed(0)
    net = model(kind).to(device)
    x = torch.randn(SHAPES[kind]).to(device)
    y = torch.randint(0, 4, SHAPES[kind][:-1] if kind == "gpt" else SHAPES[kind][:1]).to(device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2, foreach=False)
    seen = []
    for _ in range(steps):
        optimizer.zero_grad()
        with torch.autocast(device, torch.bfloat16, enabled=kind == "gpt"):
            loss = functional.cross_entropy(net(x).flatten(0, -2), y.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        seen.append(loss.detach())
    return [number.item() for number in seen]
