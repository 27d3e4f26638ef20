"""Weights: a deep network whose layers begin with a standard deviation of 1."""

import torch
from torch import nn


class Dense(nn.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, outputs))  # not divided by sqrt(inputs)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x @ self.weight + self.bias)


torch.manual_seed(0)
width, depth = 512, 24
net = nn.Sequential(*[Dense(width, width) for _ in range(depth)], nn.Linear(width, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(10):
    x, y = torch.randn(32, width), torch.randn(32, 1)
    loss = nn.functional.mse_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step}  loss {loss.item():.4g}")
