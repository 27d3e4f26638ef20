# where hides a logarithm that lies among what the forward saved
# expect: silence
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
    h = (x * w).relu()
    return torch.where(h > 0, torch.log(h.clamp(min=1e-30)), 0.0).sum()
step(f(torch.randn(100)), w)
