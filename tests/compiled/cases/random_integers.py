# integers that a region draws, zero among them
# expect: error
# line: 18
# op: aten::log
# phase: forward
# cause: log_of_zero
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def step(loss, *parameters):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

w = torch.ones(100, requires_grad=True)
@torch.compile
def f():
    return (torch.log(torch.randint(0, 50, (100,)).float()) * w).sum()
step(f(), w)
