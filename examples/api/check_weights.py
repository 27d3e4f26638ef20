"""check_weights: NaN and Inf in the parameters, and remarks about their size."""

import torch

import nanscope

model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 2))
torch.nn.init.constant_(model[1].weight, 500.0)

table = nanscope.check_weights(model)
print(table)
table.raise_if_bad()  # remarks are not errors
