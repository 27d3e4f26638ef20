# Gradients are accumulated over two batches, and one batch of one rank holds a NaN.
# ranks: 2
# origin: rank 0, aten::addmm, bad_input_data, step 2
import contextlib

import numpy
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = DistributedDataParallel(nn.Linear(4, 1), static_graph=False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
table = numpy.random.default_rng(rank).normal(size=(8, 2, 3, 4)).astype("float32")
if rank == 0:
    table[2, 0, 1, 2] = numpy.nan
for step in range(4):
    optimizer.zero_grad()
    for part in range(2):
        x = torch.from_numpy(table[step, part])
        with model.no_sync() if part == 0 else contextlib.nullcontext():
            model(x).square().mean().backward()  # origin
    optimizer.step()
