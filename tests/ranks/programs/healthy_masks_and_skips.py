# Masks of -inf go through collectives, a loss scaler skips steps that overflowed on one rank, and
# receive buffers are never written before: nothing is wrong.
# ranks: 2
# healthy
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = DistributedDataParallel(nn.Linear(4, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**125, growth_interval=1000)
for _ in range(12):
    mask = torch.zeros(4, 4).masked_fill(torch.ones(4, 4).triu(1).bool(), float("-inf"))
    masks = [torch.empty(4, 4) for _ in range(2)]
    dist.all_gather(masks, mask)
    x = torch.ones(4, 4) * (8.0 if rank == 1 else 1.0)
    attention = torch.softmax(model(x) + masks[1 - rank], -1)
    loss = (attention * attention).mean() + model(x).mean()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
best = torch.tensor(float("-inf"))
dist.all_reduce(best, op=dist.ReduceOp.MAX)
dist.barrier()
dist.destroy_process_group()
