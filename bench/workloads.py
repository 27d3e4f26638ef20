"""Training steps to measure: small models of the usual kinds, each a function that makes a step."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F


def stepper(model: nn.Module, optimizer: torch.optim.Optimizer, loss_of):
    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        loss_of().backward()
        optimizer.step()

    step.model, step.optimizer = model, optimizer
    return step


def tiny_mlp():
    layers = [layer for _ in range(8) for layer in (nn.Linear(16, 16), nn.LayerNorm(16), nn.GELU())]
    model, x = nn.Sequential(*layers), torch.randn(4, 16)
    return stepper(
        model, torch.optim.Adam(model.parameters(), 1e-3), lambda: model(x).square().mean()
    )


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (
            self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        )
        future = torch.ones(length, length, dtype=torch.bool).triu(1)
        scores = (q @ k.transpose(-1, -2)) * (width // self.heads) ** -0.5
        attention = scores.masked_fill(future, float("-inf")).softmax(-1)
        x = x + self.out((attention @ v).transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    def __init__(self, layers: int, width: int, length: int, words: int) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*[Block(width, 4) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words)

    def forward(self, i):
        x = self.words(i) + self.places(torch.arange(i.shape[1]))
        return self.head(self.norm(self.blocks(x)))


def gpt(layers: int = 4, batch: int = 8, length: int = 128, half: bool = False):
    model = GPT(layers, width=256, length=length, words=1000)
    i, y = torch.randint(0, 1000, (batch, length)), torch.randint(0, 1000, (batch * length,))

    def loss():
        with torch.autocast("cpu", torch.bfloat16, enabled=half):
            logits = model(i)
        return F.cross_entropy(logits.view(batch * length, -1).float(), y)

    return stepper(model, torch.optim.AdamW(model.parameters(), 1e-4), loss)


def gpt_bfloat16():
    return gpt(layers=2, batch=4, length=64, half=True)


def find_packages() -> None:
    packages = Path(__file__).parent.parent / ".venv" / "packages"
    sys.path += map(str, packages.glob("lib/python3*/site-packages"))


def bert():
    find_packages()
    from transformers import BertConfig, BertForMaskedLM

    config = BertConfig(
        vocab_size=3000,
        hidden_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=512,
    )
    model, i = BertForMaskedLM(config).train(), torch.randint(0, 3000, (8, 64))
    loss = lambda: model(input_ids=i, attention_mask=torch.ones_like(i), labels=i).loss  # noqa: E731
    return stepper(model, torch.optim.AdamW(model.parameters(), 1e-4), loss)


class Graph(nn.Module):
    """Attention over the edges of a graph, softmax by scatter and index."""

    def __init__(self) -> None:
        super().__init__()
        self.values = nn.ModuleList(nn.Linear(64, 64) for _ in range(3))
        self.scores = nn.ModuleList(nn.Linear(128, 1) for _ in range(3))
        self.head = nn.Linear(64, 7)

    def forward(self, x, source, target):
        nodes = x.shape[0]
        for value, score in zip(self.values, self.scores, strict=True):
            h = value(x)
            z = F.leaky_relu(score(torch.cat([h[source], h[target]], 1)).squeeze(1))
            most = torch.zeros(nodes).scatter_reduce(0, target, z, "amax", include_self=False)
            z = (z - most[target]).exp()
            z = z / torch.zeros(nodes).index_add(0, target, z)[target].clamp_min(1e-9)
            x = F.elu(torch.zeros_like(h).index_add(0, target, h[source] * z[:, None]))
        return self.head(x)


def graph():
    model, x, y = Graph(), torch.randn(2000, 64), torch.randint(0, 7, (2000,))
    source, target = torch.randint(0, 2000, (2, 16_000))
    loss = lambda: F.cross_entropy(model(x, source, target), y)  # noqa: E731
    return stepper(model, torch.optim.Adam(model.parameters(), 1e-3), loss)


class Residual(nn.Module):
    def __init__(self, inside: int, outside: int, stride: int) -> None:
        super().__init__()
        conv = lambda i, o, k, s: nn.Conv2d(i, o, k, s, k // 2, bias=False)  # noqa: E731
        self.body = nn.Sequential(
            conv(inside, outside, 3, stride),
            nn.BatchNorm2d(outside),
            nn.ReLU(),
            conv(outside, outside, 3, 1),
            nn.BatchNorm2d(outside),
        )
        same = stride == 1 and inside == outside
        self.skip = (
            nn.Identity()
            if same
            else nn.Sequential(conv(inside, outside, 1, stride), nn.BatchNorm2d(outside))
        )

    def forward(self, x):
        return F.relu(self.body(x) + self.skip(x))


def resnet():
    shapes = [(16, 16, 1)] * 2 + [
        (16, 32, 2),
        (32, 32, 1),
        (32, 64, 2),
        (64, 64, 1),
        (64, 128, 2),
        (128, 128, 1),
    ]
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, 1, 1, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        *[Residual(*shape) for shape in shapes],
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(128, 10),
    )
    x, y = torch.randn(32, 3, 32, 32), torch.randint(0, 10, (32,))
    optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)
    return stepper(model, optimizer, lambda: F.cross_entropy(model(x), y))


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.head = nn.LSTM(64, 128, 2, batch_first=True), nn.Linear(128, 10)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


def lstm():
    model, x, y = Recurrent(), torch.randn(32, 40, 64), torch.randint(0, 10, (32,))
    return stepper(
        model, torch.optim.Adam(model.parameters(), 1e-3), lambda: F.cross_entropy(model(x), y)
    )


@dataclass(frozen=True)
class Workload:
    make: Callable  # of a step
    repeat: int = 1  # steps in one sample of time
    goal: float = 1.02  # watched over plain
    # Steps before instructions are counted, and those that are: no step of these is a power of two.
    warm: int = 5
    counted: int = 2
    rivals: bool = True


ALL = {
    "tiny MLP, Adam": Workload(tiny_mlp, 60, 1.06, warm=40, counted=20),
    "GPT, 4 layers, d 256, AdamW": Workload(gpt),
    "ResNet-18-like CNN, 32x32, SGD": Workload(resnet, 2),
    "HF BERT, 2 layers, AdamW": Workload(bert, 2),
    "LSTM, 2 layers, Adam": Workload(lstm, 6, warm=9, counted=4),
    "graph network, scatter and index": Workload(graph, 4, warm=9, counted=4),
    "GPT under bf16 autocast": Workload(gpt_bfloat16, 2),
}
