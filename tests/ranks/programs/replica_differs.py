# A bit of one rank's weight flips, as faulty memory does: its sums overflow, and its replica is not
# what the others have.
# ranks: 4
# origin: rank 2, aten::addmm, float_overflow, step 2
# differs: 2, weight
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = DistributedDataParallel(nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
for step in range(4):
    if rank == 2 and step == 2:
        bits = model.module.weight.detach().view(torch.int32)
        bits[0, 1] |= 1 << 30
        bits[0, 1] &= ~(1 << 23)
    loss = model(torch.full((2, 4), 100.0)).square().mean()  # origin
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
