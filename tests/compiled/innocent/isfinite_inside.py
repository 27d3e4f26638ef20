# a region tests its own loss, and the step is skipped
# expect: silence
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
w = torch.ones(4, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
@torch.compile
def f(x):
    loss = torch.log(x * w).sum()
    return loss, torch.isfinite(loss)
for x in (torch.ones(4), torch.zeros(4), torch.ones(4)):
    loss, fine = f(x)
    if fine:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
