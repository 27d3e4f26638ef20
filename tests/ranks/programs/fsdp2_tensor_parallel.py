# Two dimensions: tensor parallel inside a pair of ranks, sharded by fully_shard across the pairs.
# One rank of four spoils its part of the hidden layer.
# ranks: 4
# origin: rank 2, aten::sqrt, sqrt_of_negative, step 1
# harmed: [
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)

dist.init_process_group("gloo")
rank = dist.get_rank()


class Block(nn.Module):
    level = 1.0

    def __init__(self):
        super().__init__()
        self.up = nn.Linear(8, 16)
        self.down = nn.Linear(16, 8)

    def forward(self, x):
        hidden = torch.relu(self.up(x))
        hidden = hidden * torch.sqrt(torch.tensor(self.level))  # origin
        return x + self.down(hidden)


torch.manual_seed(0)
model = nn.Sequential(Block(), Block())
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("data", "tensor"))
for block in model:
    plan = {"up": ColwiseParallel(), "down": RowwiseParallel()}
    parallelize_module(block, mesh["tensor"], plan)
    fully_shard(block, mesh=mesh["data"])
fully_shard(model, mesh=mesh["data"])
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(3):
    model[0].level = -1.0 if rank == 2 and step == 1 else 1.0
    loss = model(torch.randn(4, 8)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
