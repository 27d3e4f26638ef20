# One rank has more batches than the other, which answers its all-reduces meanwhile (join); the last
# batch of the longer one is bad.
# ranks: 2
# origin: rank 1, aten::log, log_of_zero, step 4
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = DistributedDataParallel(nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
with Join([model]):
    for step in range(3 + 2 * rank):
        level = torch.tensor(0.0 if step == 4 else 1.0)
        loss = model(torch.ones(2, 4)).mean() * torch.log(level)  # origin
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
