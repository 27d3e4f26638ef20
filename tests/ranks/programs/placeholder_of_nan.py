# Buffers are filled with NaN on purpose until something is received: what comes then is not theirs.
# ranks: 2
# origin: rank 0, aten::div, division_by_zero, step 1
import torch
import torch.distributed as dist
from torch import nn

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(3):
    batch = torch.full((2, 4), float("nan"))
    if rank == 0:
        batch = torch.ones(2, 4) / torch.tensor(0.0 if step == 1 else 1.0)  # origin
    dist.broadcast(batch, 0)
    optimizer.zero_grad()
    model(batch).mean().backward()
    optimizer.step()
