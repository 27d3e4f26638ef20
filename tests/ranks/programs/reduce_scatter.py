# Sharded gradients by hand: a reduce-scatter brings one rank's infinity to the owner of the shard.
# ranks: 2
# origin: rank 1, aten::exp, exp_overflow, step 1
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
shard = torch.ones(4, requires_grad=True)
optimizer = torch.optim.SGD([shard], lr=0.01)
for step in range(3):
    power = torch.tensor(200.0 if rank == 1 and step == 1 else 1.0)
    size = torch.exp(power)  # origin
    full = torch.ones(8) * size
    own = torch.empty(4)
    dist.reduce_scatter_tensor(own, full)
    optimizer.zero_grad()
    shard.grad = own / dist.get_world_size()
    optimizer.step()
