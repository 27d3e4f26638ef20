# A communication hook compresses gradients to half precision, where those of one rank do not fit.
# ranks: 2
# origin: rank 1, aten::_to_copy, half_overflow, step 2
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = DistributedDataParallel(nn.Linear(4, 1))


def compress(state, bucket):
    half = bucket.buffer().to(torch.float16)  # origin
    summed = dist.all_reduce(half, async_op=True).get_future()
    return summed.then(lambda done: done.value()[0].to(torch.float32) / 2)


model.register_comm_hook(None, compress)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
for step in range(4):
    x = torch.ones(2, 4) * (1e5 if rank == 1 and step == 2 else 1.0)
    optimizer.zero_grad()
    model(x).mean().backward()
    optimizer.step()
