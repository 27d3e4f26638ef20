# a compiled test of a loss that eager code made
# expect: silence
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
w = torch.ones(4, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
@torch.compile
def is_fine(loss):
    return torch.isfinite(loss).all()
for x in (torch.ones(4), torch.zeros(4), torch.ones(4)):
    loss = torch.log(x * w).sum()
    if is_fine(loss):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
