# The process group is destroyed and made again, and the second one carries the NaN.
# ranks: 2
# origin: rank 1, aten::sqrt, sqrt_of_negative, step 1
import torch
import torch.distributed as dist

weight = torch.ones(4, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.01)
for step in range(2):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    level = torch.tensor(-1.0 if rank == 1 and step == 1 else 1.0)
    gradient = torch.ones(4) * torch.sqrt(level)  # origin
    dist.all_reduce(gradient)
    weight.grad = gradient / dist.get_world_size()
    optimizer.step()
    dist.barrier()
    dist.destroy_process_group()
