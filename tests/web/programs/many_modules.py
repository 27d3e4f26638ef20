"""A model of more modules than a capture keeps."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 4), *(nn.Identity() for _ in range(5000)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss = (model[0](torch.zeros(3, 4)) * 0).log().sum()
loss.backward()
optimizer.step()
