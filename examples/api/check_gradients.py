"""check_gradients: a line for each parameter, the worst first, and the total norm."""

import torch

import nanscope

model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 1))
model(torch.randn(8, 3)).sum().backward()
model[0].bias.grad[0] = float("nan")

table = nanscope.check_gradients(model)
print(table)
print("ok:", table.ok, "worst:", table.rows[0].name, "total norm:", table.total_norm)
