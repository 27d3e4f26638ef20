# A DTensor is sharded by hand, and one rank's shard goes bad before all of it is gathered.
# ranks: 2
# origin: rank 1, aten::div, division_by_zero, step 1
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard

dist.init_process_group("gloo")
rank = dist.get_rank()
mesh = init_device_mesh("cpu", (dist.get_world_size(),))
torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(3):
    count = torch.tensor(0.0 if rank == 1 and step == 1 else 2.0)
    own = torch.ones(3, 4) / count  # origin
    batch = DTensor.from_local(own, mesh, [Shard(0)]).redistribute(mesh, [Replicate()]).to_local()
    loss = model(batch).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
