"""Learning rate: house prices from raw features, in square metres and years."""

import torch
from torch import nn

torch.manual_seed(0)
area = 40 + 160 * torch.rand(256, 1)
year = 1900 + 120 * torch.rand(256, 1)
features = torch.cat([area, year], 1)  # not normalised
price = 3.2 * area + 0.9 * (year - 1900) + 10 * torch.randn(256, 1)

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
for step in range(200):
    loss = nn.functional.mse_loss(model(features), price)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 2 == 0:
        print(f"step {step}  loss {loss.item():.4g}")
