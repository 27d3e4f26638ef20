"""A training in which one sample of the data has no valid entry: its mean is 0 / 0.

    nanscope run --bad-batch bad bad_sample.py
    nanscope replay --yes bad
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
x, valid = torch.randn(96, 5, 4), torch.rand(96, 5) < 0.8
valid[61] = False
data = DataLoader(TensorDataset(x, valid, x.mean(1)), batch_size=8, shuffle=True)

model = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(5), nn.ReLU(), nn.Dropout(0.1))
head = nn.Linear(16, 4)
optimizer = torch.optim.AdamW([*model.parameters(), *head.parameters()], lr=1e-3)

for _ in range(2):
    for rows, mask, target in data:
        hidden = model(rows) * mask[:, :, None]
        mean = hidden.sum(1) / mask.sum(1, keepdim=True)
        loss = (head(mean) - target).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
