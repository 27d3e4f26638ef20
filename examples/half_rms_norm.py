"""Mixed precision: an RMS norm in float16, whose sum of squares leaves the range of the type."""

import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mean_square = (x * x).sum(-1, keepdim=True) / x.shape[-1]
        return self.weight * x * torch.rsqrt(mean_square + 1e-5)


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = RMSNorm(width)
        self.up, self.down = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(torch.relu(self.up(self.norm(x))))


torch.manual_seed(0)
width = 512
model = nn.Sequential(*[Block(width) for _ in range(2)], nn.Linear(width, 8)).half()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(10):
    scale = 0.5 if step < 6 else 12.0  # a louder recording
    tokens = (scale * torch.randn(16, width)).half()
    loss = model(tokens).float().pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 2 == 0:
        print(f"step {step}  loss {loss.item():.4f}")
