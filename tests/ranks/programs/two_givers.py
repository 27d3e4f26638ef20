# Two ranks of four make the same fault in the same step: both are named, the lower first.
# ranks: 4
# origin: rank 1, aten::log, log_of_zero, step 1
# giver: 3
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = DistributedDataParallel(nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(3):
    level = torch.tensor(0.0 if rank in (1, 3) and step == 1 else 1.0)
    loss = model(torch.ones(2, 4)).mean() * torch.log(level)  # origin
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
