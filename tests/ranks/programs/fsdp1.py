# Sharded by FullyShardedDataParallel, which keeps parameters end to end in one row; the loss of one
# rank takes the logarithm of a negative number.
# ranks: 2
# origin: rank 0, aten::log, log_of_negative, step 1
# harmed: .flatten()[
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
network = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
model = FullyShardedDataParallel(network, device_id=torch.device("cpu"))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(3):
    x = torch.randn(4, 8)
    level = torch.tensor(-1.0 if rank == 0 and step == 1 else 1.0)
    loss = model(x).square().mean() * torch.log(level)  # origin
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
