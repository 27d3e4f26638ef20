# The same without a fault
# expect: clean
# modes: exact sentinel
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
try:
    mesh = init_device_mesh("cpu", (1,))
    p = torch.nn.Parameter(distribute_tensor(torch.ones(100), mesh, [Shard(0)]))
    opt = torch.optim.Adam([p], lr=0.1)
    for _ in range(2):
        opt.zero_grad()
        (p * p).sum().backward()
        opt.step()
finally:
    dist.destroy_process_group()
