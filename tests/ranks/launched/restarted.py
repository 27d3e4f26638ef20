"""Counts, in a file of each rank, how often a launcher started it; the NaN comes every time."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

with open(f"starts.{os.environ['RANK']}", "a") as starts:
    starts.write("1")
dist.init_process_group("gloo")
rank = dist.get_rank()
model = DistributedDataParallel(nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(3):
    level = torch.tensor(0.0 if rank == 1 and step == 1 else 1.0)
    loss = model(torch.ones(2, 4)).mean() * torch.log(level)  # origin
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with open(f"trained.{rank}", "w"):
    pass
