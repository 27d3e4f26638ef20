# Every rank has a loader with workers; a sample of one rank holds a NaN.
# ranks: 2
# origin: rank 1, aten::stack, bad_input_data, step 0
import numpy
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset


class Samples(Dataset):
    def __init__(self, rank):
        self.table = numpy.random.default_rng(rank).normal(size=(6, 4)).astype("float32")
        if rank == 1:
            self.table[3, 2] = numpy.nan

    def __len__(self):
        return len(self.table)

    def __getitem__(self, index):
        return torch.from_numpy(self.table[index].copy())


if __name__ == "__main__":
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for x in DataLoader(Samples(rank), batch_size=2, num_workers=1):  # origin
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
    dist.destroy_process_group()
