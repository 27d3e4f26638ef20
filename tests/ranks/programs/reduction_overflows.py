# Every rank gives finite half-precision numbers, whose sum does not fit: no rank is to blame.
# ranks: 2
# origin: nobody, c10d::allreduce_, overflow_in_reduction, step 1
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
weight = torch.ones(4, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=1e-6)
for step in range(3):
    optimizer.zero_grad()
    (weight * (40000.0 if step == 1 else 4.0)).sum().backward()
    half = weight.grad.half()
    dist.all_reduce(half)  # origin
    weight.grad = half.float() / dist.get_world_size()
    optimizer.step()
