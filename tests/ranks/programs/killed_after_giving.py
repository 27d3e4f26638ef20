# The rank that made the NaN is killed as soon as the others have it.
# ranks: 2
# origin: rank 1, aten::sqrt, sqrt_of_negative, step 1
# killed: 1
import os
import signal

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
weight = torch.ones(4, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.01)
for step in range(3):
    level = torch.tensor(-1.0 if rank == 1 and step == 1 else 1.0)
    gradient = torch.ones(4) * torch.sqrt(level)  # origin
    dist.all_reduce(gradient)
    if rank == 1 and step == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    optimizer.zero_grad()
    weight.grad = gradient / dist.get_world_size()
    optimizer.step()
