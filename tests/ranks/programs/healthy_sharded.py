# FSDP2, FSDP1, tensor parallel, a pipeline and ZeroRedundancyOptimizer, one after another, finite.
# ranks: 2
# healthy
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
mesh = init_device_mesh("cpu", (size,))


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))


def train(model, optimizer):
    for _ in range(2):
        optimizer.zero_grad()
        model(torch.randn(4, 8)).square().mean().backward()
        optimizer.step()


model = network()
fully_shard(model, mesh=mesh)
train(model, torch.optim.AdamW(model.parameters()))
cpu = torch.device("cpu")
model = FullyShardedDataParallel(network(), use_orig_params=True, device_id=cpu)
train(model, torch.optim.AdamW(model.parameters()))
model = parallelize_module(network(), mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
train(model, torch.optim.AdamW(model.parameters(), foreach=False))
model = DistributedDataParallel(network())
train(model, ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.AdamW))
module = network()
stage = PipelineStage(module, rank, size, torch.device("cpu"))
schedule = ScheduleGPipe(stage, n_microbatches=2, loss_fn=nn.functional.mse_loss)
optimizer = torch.optim.SGD(module.parameters(), lr=0.01)
for _ in range(2):
    optimizer.zero_grad()
    if rank == 0:
        schedule.step(torch.randn(4, 8))
    else:
        schedule.step(target=torch.randn(4, 8))
    optimizer.step()
dist.barrier()
dist.destroy_process_group()
