# A server takes results from whoever sends one first, then one from a certain rank.
# ranks: 4
# origin: rank 2, aten::log, log_of_zero, step 0
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
weight = torch.ones(3, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.01)
if rank == 0:
    total = torch.zeros(3)
    for sender in (None, None, None, 2):
        result = torch.empty(3)
        dist.recv(result, sender)
        total += result
    weight.grad = total
    optimizer.step()
else:
    for number in range(2 if rank == 2 else 1):
        level = torch.tensor(0.0 if number == 1 else 1.0)
        result = torch.ones(3) + torch.log(level)  # origin
        dist.send(result, 0)
