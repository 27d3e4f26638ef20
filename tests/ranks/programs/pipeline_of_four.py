# Four stages by send and recv: the second makes a NaN, the last computes the loss.
# ranks: 4
# origin: rank 1, aten::sqrt, sqrt_of_negative, step 0
import torch
import torch.distributed as dist
from torch import nn

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
torch.manual_seed(rank)
stage = nn.Linear(4, 4)
optimizer = torch.optim.SGD(stage.parameters(), lr=0.01)
for step in range(3):
    x = torch.empty(2, 4)
    if rank == 0:
        x = torch.randn(2, 4)
    else:
        dist.recv(x, rank - 1)
    x.requires_grad_(True)
    y = stage(x)
    if rank == 1:
        y = y + torch.sqrt(torch.tensor(-1.0 if step == 0 else 1.0))  # origin
    if rank < size - 1:
        dist.send(y.detach(), rank + 1)
        back = torch.empty(2, 4)
        dist.recv(back, rank + 1)
        y.backward(back)
    else:
        y.square().mean().backward()
    if rank > 0:
        dist.send(x.grad, rank - 1)
    optimizer.step()
    optimizer.zero_grad()
