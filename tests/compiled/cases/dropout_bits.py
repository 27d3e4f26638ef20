# what was dropped is divided by itself: a replay must drop the same
# expect: error
# line: 19
# op: aten::div
# phase: forward
# cause: division_by_zero
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def step(loss, *parameters):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

w = torch.randn(100, requires_grad=True)
@torch.compile
def f(x):
    h = F.dropout(x * w, 0.5)
    q = h / h
    return q.sum() + torch.rand_like(x).sum() + torch.randn(3).sum() + torch.randint(0, 9, (4,)).sum()
step(f(torch.randn(100)), w)
