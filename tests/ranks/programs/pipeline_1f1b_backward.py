# Four stages, one forward and one backward at a time: the slope of a square root at 0 in the third
# stage spoils the gradients of the two before it.
# ranks: 4
# origin: rank 2, aten::div, sqrt_gradient_at_zero, step 1
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()


class Stage(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.scale = 1.0

    def forward(self, x):
        y = self.layer(x)
        return y + torch.sqrt((y * self.scale).square())  # origin


torch.manual_seed(rank)
module = Stage()
stage = PipelineStage(module, rank, size, torch.device("cpu"))
schedule = Schedule1F1B(stage, n_microbatches=4, loss_fn=nn.functional.mse_loss)
optimizer = torch.optim.SGD(module.parameters(), lr=0.01)
for step in range(3):
    module.scale = 0.0 if rank == 2 and step == 1 else 1.0
    optimizer.zero_grad()
    if rank == 0:
        schedule.step(torch.randn(8, 4))
    elif rank == size - 1:
        schedule.step(target=torch.randn(8, 4))
    else:
        schedule.step()
    optimizer.step()
