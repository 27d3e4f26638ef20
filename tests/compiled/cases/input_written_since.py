# an input of the forward was written: no replay, no certainty
# expect: error
# line: 20
# op: torch.compile
# phase: backward
# cause: unwatched_kernel
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def step(loss, *parameters):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

w = torch.ones(4, requires_grad=True)
x = torch.ones(4)
@torch.compile
def f(x):
    return (w - w.detach()).pow(2).sum().sqrt() + x.sum()
loss = f(x)
x.zero_()
step(loss, w)
