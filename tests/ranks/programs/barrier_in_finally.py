# The program waits for the others on its way out, as many do; they wait for it in another call.
# ranks: 2
# origin: rank 1, aten::log, log_of_negative, step 1
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
weight = torch.ones(4, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.01)
try:
    for step in range(3):
        optimizer.zero_grad()
        level = torch.tensor(-1.0 if rank == 1 and step == 1 else 1.0)
        (weight * torch.log(level)).sum().backward()  # origin
        optimizer.step()
        dist.all_reduce(weight.detach().clone())
finally:
    dist.barrier()
    dist.destroy_process_group()
