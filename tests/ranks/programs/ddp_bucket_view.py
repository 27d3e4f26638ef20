# Gradients are views of DDP's buckets: no operation reads what the all-reduce brought before the
# optimizer does. The slope of a square root at 0, on one rank of four.
# ranks: 4
# origin: rank 2, aten::div, sqrt_gradient_at_zero, step 1
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = DistributedDataParallel(nn.Linear(4, 3), gradient_as_bucket_view=True)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(4):
    x = torch.ones(2, 4) * (rank + 1)
    scale = 0.0 if rank == 2 and step == 1 else 1.0
    y = model(x) * scale
    loss = torch.sqrt((y * y).sum())  # origin
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
