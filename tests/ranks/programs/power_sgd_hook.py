# Gradients are compressed to low rank: the all-reduce carries products of them.
# ranks: 2
# origin: rank 1, aten::log, log_of_negative, step 3
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook as power
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = DistributedDataParallel(nn.Linear(32, 32))
state = power.PowerSGDState(None, matrix_approximation_rank=1, start_powerSGD_iter=2)
model.register_comm_hook(state, power.powerSGD_hook)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(5):
    level = torch.tensor(-1.0 if rank == 1 and step == 3 else 2.0)
    loss = model(torch.randn(4, 32)).square().mean() * torch.log(level)  # origin
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
