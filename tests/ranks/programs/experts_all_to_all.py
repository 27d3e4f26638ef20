# Tokens travel to experts on other ranks and back: the expert of one rank of four divides by zero.
# ranks: 4
# origin: rank 3, aten::div, division_by_zero, step 1
import torch
import torch.distributed as dist
from torch import nn

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
router = nn.Linear(4, 4)
optimizer = torch.optim.SGD(router.parameters(), lr=0.01)
for step in range(3):
    tokens = router(torch.randn(8, 4))
    here, back = torch.empty(8, 4), torch.empty(8, 4)
    dist.all_to_all_single(here, tokens.detach())
    load = torch.tensor(0.0 if rank == 3 and step == 1 else 2.0)
    done = here / load  # origin
    dist.all_to_all_single(back, done)
    loss = (tokens * back).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
