# Features of all ranks are gathered into buffers from empty_like; one rank divides by 0.
# ranks: 2
# origin: rank 0, aten::div, division_by_zero, step 1
import torch
import torch.distributed as dist
from torch import nn

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(3):
    x = torch.randn(2, 4)
    total = torch.zeros(()) if rank == 0 and step == 1 else torch.ones(())
    weight = torch.ones(2, 3) / total  # origin
    features = (model(x) * weight).detach()
    everyone = [torch.empty_like(features) for _ in range(dist.get_world_size())]
    dist.all_gather(everyone, features)
    loss = (model(x) * torch.cat(everyone).mean(0)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
