# times zero is folded away by the compiler: finite there
# expect: silence
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def step(loss, *parameters):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

w = torch.ones(4, requires_grad=True)
@torch.compile
def f(x):
    return (x / 1e-39 * w).sum()
step(f(torch.full((4,), 1e-10)), w)
