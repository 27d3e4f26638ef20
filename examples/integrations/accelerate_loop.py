"""A loop of one's own with accelerate; one batch has no labelled row: 0 / 0.

    nanscope run accelerate_loop.py
    accelerate launch --no_python nanscope run accelerate_loop.py
"""

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=True)
torch.manual_seed(0)
x, labelled = torch.randn(96, 6), torch.ones(96)
labelled[64:72] = 0.0
data = TensorDataset(x, (x[:, 0] > 0).long(), labelled)
model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(data, batch_size=8))

for rows, y, weight in loader:
    each = F.cross_entropy(model(rows), y, reduction="none")
    loss = (each * weight).sum() / weight.sum()
    optimizer.zero_grad()
    accelerator.backward(loss)
    accelerator.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    accelerator.print(f"loss {loss.item():.3f}")
