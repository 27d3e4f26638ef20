# A schedule of torch's own pipeline: the first stage divides by zero in the second step, the last
# one computes the loss.
# ranks: 2
# origin: rank 0, aten::div, division_by_zero, step 1
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()


class Stage(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.count = 1.0

    def forward(self, x):
        return self.layer(x) / torch.tensor(self.count)  # origin


torch.manual_seed(rank)
module = Stage()
stage = PipelineStage(module, rank, size, torch.device("cpu"))
schedule = ScheduleGPipe(stage, n_microbatches=2, loss_fn=nn.functional.mse_loss)
optimizer = torch.optim.SGD(module.parameters(), lr=0.01)
for step in range(3):
    module.count = 0.0 if rank == 0 and step == 1 else 1.0
    optimizer.zero_grad()
    if rank == 0:
        schedule.step(torch.randn(4, 4))
    else:
        schedule.step(target=torch.randn(4, 4))
    optimizer.step()
