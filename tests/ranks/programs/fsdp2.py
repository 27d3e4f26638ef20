# Sharded by fully_shard; one rank's loss divides by zero, and the gradients are reduce-scattered.
# ranks: 2
# origin: rank 1, aten::div, division_by_zero, step 1
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
fully_shard(model, mesh=init_device_mesh("cpu", (dist.get_world_size(),)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(3):
    x = torch.randn(4, 8)
    count = torch.tensor(0.0 if rank == 1 and step == 1 else 4.0)
    loss = model(x).sum() / count  # origin
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
