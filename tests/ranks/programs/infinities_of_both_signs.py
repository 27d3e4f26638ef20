# Every rank writes an infinity on purpose; their sum is NaN, which nobody gave.
# ranks: 2
# origin: reduction, c10d::allreduce_, received_from_rank, step 0
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
weight = torch.ones(3, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.01)
bound = torch.full((3,), float("inf") if rank == 0 else float("-inf"))
dist.all_reduce(bound)  # origin
(weight * bound).sum().backward()
optimizer.step()
