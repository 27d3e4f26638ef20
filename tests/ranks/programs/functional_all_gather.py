# The same through a functional collective, on four ranks.
# ranks: 4
# origin: rank 3, aten::log, log_of_negative, step 2
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as collectives
from torch import nn

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(4):
    x = torch.randn(2, 4)
    level = torch.tensor(-2.0 if rank == 3 and step == 2 else 2.0)
    own = torch.log(level).expand(3).contiguous()  # origin
    all_of_them = collectives.all_gather_tensor(own, 0, dist.group.WORLD)
    loss = (model(x).sum(0) * all_of_them.view(-1, 3).mean(0)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
