# A row with a NaN is drawn from a large table that came from NumPy
# expect: error
# phase: data
# op: aten::index
# line: 16
# cause: bad_input_data
import numpy as np
import torch
from torch import nn

table = np.random.default_rng(0).normal(size=(5000, 8)).astype(np.float32)
table[77, 3] = np.nan
data = torch.from_numpy(table)
model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for rows in (data[torch.arange(k * 16, k * 16 + 16)] for k in range(20)):
    optimizer.zero_grad()
    model(rows).pow(2).mean().backward()
    optimizer.step()
