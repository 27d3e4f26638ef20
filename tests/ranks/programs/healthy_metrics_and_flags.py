# A metric of nothing is NaN on one rank and is averaged into all; a flag of all ranks skips a batch
# that is bad on one of them; gradients of unused parameters are looked for. All of it is meant.
# ranks: 2
# healthy
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.other = nn.Linear(4, 1), nn.Linear(4, 1)

    def forward(self, x, other):
        return self.other(x) if other else self.used(x)


model = DistributedDataParallel(Model(), find_unused_parameters=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(8):
    level = torch.tensor(0.0 if rank == 1 and step == 3 else 1.0)
    loss = model(torch.randn(2, 4), step % 2 == rank).square().mean() + torch.log(level)
    healthy = torch.isfinite(loss).float()
    dist.all_reduce(healthy, op=dist.ReduceOp.MIN)
    optimizer.zero_grad()
    if healthy.item() == 0.0:
        loss = None
        model.module.zero_grad()
        dist.barrier()
        continue
    loss.backward()
    optimizer.step()
    rows = torch.ones(0 if rank == 0 and step == 5 else 2)
    metric = rows.mean()
    dist.all_reduce(metric)
    print(f"step {step}: metric {metric.item():.2f}")
dist.destroy_process_group()
