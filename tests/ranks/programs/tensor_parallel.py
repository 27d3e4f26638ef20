# A layer is cut by columns and the next by rows; what lies between them goes bad on one rank.
# ranks: 2
# origin: rank 1, aten::log, log_of_zero, step 1
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)

dist.init_process_group("gloo")
rank = dist.get_rank()


class Between(nn.Module):
    scale = 1.0

    def forward(self, x):
        return torch.log(torch.sigmoid(x) * self.scale)  # origin


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), Between(), nn.Linear(16, 4))
mesh = init_device_mesh("cpu", (dist.get_world_size(),))
parallelize_module(model, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(3):
    model[1].scale = 0.0 if rank == 1 and step == 1 else 1.0
    loss = model(torch.randn(4, 8)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
