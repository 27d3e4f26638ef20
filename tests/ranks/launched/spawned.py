"""torch.multiprocessing starts the ranks: the last takes the logarithm of a negative number."""

import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def train(rank: int, ranks: int, where: str) -> None:
    dist.init_process_group("gloo", init_method=where, rank=rank, world_size=ranks)
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(3):
        level = torch.tensor(-1.0 if rank == ranks - 1 and step == 1 else 2.0)
        loss = model(torch.ones(2, 4)).mean() * torch.log(level)  # origin
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    store = "file://" + os.path.join(os.getcwd(), "store")
    mp.spawn(train, (int(sys.argv[1]), store), int(sys.argv[1]))
