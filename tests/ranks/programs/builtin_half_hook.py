# DDP's own hook in C++ sends gradients as float16, where those of one rank do not fit; it writes
# them back in a thread of the backend.
# ranks: 2
# origin: rank 0, aten::_to_copy, half_overflow, step 1
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = DistributedDataParallel(nn.Linear(4, 1))
model._register_builtin_comm_hook(dist.BuiltinCommHookType.FP16_COMPRESS)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
for step in range(3):
    x = torch.ones(2, 4) * (1e6 if rank == 0 and step == 1 else 1.0)
    optimizer.zero_grad()
    model(x).mean().backward()  # origin
    optimizer.step()
