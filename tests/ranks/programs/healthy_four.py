# Messages, broadcasts, reductions in half precision and a subgroup, all finite.
# ranks: 4
# healthy
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
pairs = [dist.new_group([0, 1]), dist.new_group([2, 3])]
torch.manual_seed(0)
model = DistributedDataParallel(nn.Linear(4, 1), gradient_as_bucket_view=True)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
for _ in range(4):
    optimizer.zero_grad()
    model(torch.randn(3, 4)).square().mean().backward()
    optimizer.step()
    half = torch.ones(8, dtype=torch.float16) * rank
    dist.all_reduce(half, group=pairs[rank // 2])
    buffer = torch.empty(5)
    if rank % 2 == 0:
        dist.send(torch.ones(5), rank + 1)
    else:
        dist.recv(buffer, rank - 1)
    objects = [{"rank": rank}]
    dist.broadcast_object_list(objects, 0)
dist.destroy_process_group()
