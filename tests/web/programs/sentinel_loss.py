"""A loss that becomes -inf after some healthy steps, for the look once a step."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(12):
    x = torch.randn(16, 6)
    p = torch.softmax(model(x), dim=-1)
    if step == 7:
        p = p * (x[:, :2] > 0)
    loss = -torch.log(p).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
