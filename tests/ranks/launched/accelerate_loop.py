"""A training loop of Accelerate, started by `accelerate launch`."""

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=True)
torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
loader = DataLoader(TensorDataset(torch.randn(32, 4)), batch_size=4)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for step, (x,) in enumerate(loader):
    level = torch.tensor(-4.0 if accelerator.process_index == 1 and step == 2 else 4.0)
    loss = model(x).square().mean() * torch.sqrt(level)  # origin
    optimizer.zero_grad()
    accelerator.backward(loss)
    optimizer.step()
accelerator.end_training()
