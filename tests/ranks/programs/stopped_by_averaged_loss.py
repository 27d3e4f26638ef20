# The averaged loss is looked at by all, and all give up when it is NaN: one rank had made it.
# ranks: 2
# origin: rank 1, aten::sqrt, sqrt_of_negative, step 2
import sys

import torch
import torch.distributed as dist
from torch import nn

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(4):
    level = torch.tensor(-1.0 if rank == 1 and step == 2 else 1.0)
    loss = model(torch.ones(2, 4)).mean() * torch.sqrt(level)  # origin
    mean = loss.detach().clone()
    dist.all_reduce(mean)
    if torch.isnan(mean / 2).item():
        sys.exit("the loss is NaN")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
