# After an all-reduce of finite numbers, NumPy writes a NaN into the same memory: no rank gave it,
# and no sum of finite numbers is NaN.
# ranks: 2
# origin: rank 0, aten::mul, bad_input_data, step 0
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
weight = torch.ones(4, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.01)
scale = torch.ones(4)
dist.all_reduce(scale)
if rank == 0:
    scale.numpy()[2] = float("nan")
(weight * scale).sum().backward()  # origin
optimizer.step()
