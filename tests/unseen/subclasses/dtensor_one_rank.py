# FSDP2's own parameters, made by hand: one shard on one rank
# expect: error
# modes: exact sentinel
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
try:
    mesh = init_device_mesh("cpu", (1,))
    p = torch.nn.Parameter(distribute_tensor(torch.zeros(100), mesh, [Shard(0)]))
    opt = torch.optim.SGD([p], lr=0.1)
    for i in range(2):
        loss = p.sum() if i == 0 else (p - p.detach()).sqrt().sum()  # here
        opt.zero_grad()
        loss.backward()
        opt.step()
finally:
    dist.destroy_process_group()
