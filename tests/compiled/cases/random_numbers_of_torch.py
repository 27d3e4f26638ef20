# inductor is told to draw random numbers as torch does
# expect: error
# line: 20
# op: aten::div
# phase: forward
# cause: division_by_zero
# backend: inductor
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def step(loss, *parameters):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

w = torch.randn(1000, requires_grad=True)
@torch.compile(options={"fallback_random": True})
def f(x):
    h = F.dropout(x * w, 0.5)
    return (h / h).sum() + torch.rand_like(x).sum()
step(f(torch.randn(1000)), w)
