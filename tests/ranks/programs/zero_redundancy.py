# Each rank updates its part of the parameters and sends it to the others: Adam without eps divides
# 0 by 0 on the rank that owns the layer without gradient.
# ranks: 2
# origin: any, aten::addcdiv_, optimizer_division_by_zero, step 0
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.idle = nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False)

    def forward(self, x):
        return self.used(x) + self.idle(x) * 0.0


dist.init_process_group("gloo")
torch.manual_seed(0)
model = DistributedDataParallel(Model())
optimizer = ZeroRedundancyOptimizer(
    model.parameters(), optimizer_class=torch.optim.Adam, lr=0.01, eps=0.0, foreach=False
)
for _ in range(3):
    optimizer.zero_grad()
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()  # origin
