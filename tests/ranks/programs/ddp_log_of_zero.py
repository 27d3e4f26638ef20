# A loss takes the log of a probability that underflowed, on one rank; DDP averages it into all.
# ranks: 2
# origin: rank 1, aten::log, log_of_zero, step 3
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = DistributedDataParallel(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
numbers = torch.Generator().manual_seed(rank)
for step in range(6):
    x = torch.randn(4, 8, generator=numbers)
    if rank == 1 and step == 3:
        x = x * 1e3
    p = torch.softmax(model(x), -1)
    loss = -(torch.eye(4) * torch.log(p)).sum(1).mean()  # origin
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
dist.destroy_process_group()
