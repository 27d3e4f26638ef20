# The graph is promised to stay the same: all buckets of the first backward are reduced at its end.
# ranks: 2
# origin: rank 1, aten::exp, exp_overflow, step 0
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = DistributedDataParallel(nn.Linear(4, 2), static_graph=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(3):
    power = torch.tensor(200.0 if rank == 1 and step == 0 else 1.0)
    loss = (model(torch.ones(2, 4)) * torch.exp(power)).mean()  # origin
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
