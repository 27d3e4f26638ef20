# A stage of a pipeline learns shapes by running model, loss and backward on memory that nobody has
# written; torch fills that with NaN here.
# ranks: 2
# healthy
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

torch.use_deterministic_algorithms(True)
assert torch.utils.deterministic.fill_uninitialized_memory
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
module = nn.Linear(8, 8)
stage = PipelineStage(module, rank, size, torch.device("cpu"))
schedule = ScheduleGPipe(stage, n_microbatches=2, loss_fn=nn.functional.mse_loss)
optimizer = torch.optim.SGD(module.parameters(), lr=0.01)
for _ in range(3):
    optimizer.zero_grad()
    if rank == 0:
        schedule.step(torch.randn(4, 8))
    else:
        schedule.step(target=torch.randn(4, 8))
    optimizer.step()
dist.barrier()
dist.destroy_process_group()
