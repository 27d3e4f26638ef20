# Three groups of two, whose calls have the same numbers: the NaN goes from rank 3 to rank 2, from
# there to rank 0, and from there to rank 1, where alone it does harm.
# ranks: 4
# origin: rank 3, aten::log, log_of_negative, step 0
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
low, high, across = (dist.new_group(pair) for pair in ([0, 1], [2, 3], [0, 2]))
weight = torch.ones(3, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.01)
for step in range(3):
    value = torch.ones(3)
    if rank == 3:
        value = value * torch.log(torch.tensor(-1.0 if step == 1 else 2.0))  # origin
    if rank in (2, 3):
        dist.broadcast(value, 3, group=high)
    if rank in (0, 2):
        dist.broadcast(value, 2, group=across)
    if rank in (0, 1):
        dist.all_reduce(value, group=low)
    optimizer.zero_grad()
    if rank == 1:
        weight.grad = value.clone()
        optimizer.step()
dist.barrier()
