"""check_optimizer: Adam's moments, momentum, and the learning rate."""

import torch

import nanscope

model = torch.nn.Linear(3, 1)
optimizer = torch.optim.Adam(model.parameters())
model(torch.randn(8, 3)).sum().backward()
optimizer.step()
optimizer.state[model.weight]["exp_avg_sq"][0, 1] = float("inf")

print(nanscope.check_optimizer(optimizer, model))
