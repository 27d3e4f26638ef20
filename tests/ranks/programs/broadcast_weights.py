# Rank 0 makes the weights and broadcasts them; its initialisation divides by zero.
# ranks: 2
# origin: rank 0, aten::div, division_by_zero, step 0
import torch
import torch.distributed as dist
from torch import nn

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = nn.Linear(4, 2)
start = torch.zeros(2, 4)
if rank == 0:
    ones = torch.ones(2, 4)
    start = ones / (ones - 1)  # origin
dist.broadcast(start, 0)
x = torch.randn(3, 4)
loss = (model(x) + x @ start.t()).mean()
loss.backward()
torch.optim.SGD(model.parameters(), lr=0.1).step()
