# normal numbers that a region draws, below zero
# expect: error
# line: 18
# op: aten::log
# phase: forward
# cause: log_of_negative
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def step(loss, *parameters):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

w = torch.ones(50, requires_grad=True)
@torch.compile
def f(x):
    return (torch.log(torch.randn(50) + x) * w).sum()
step(f(torch.zeros(50)), w)
