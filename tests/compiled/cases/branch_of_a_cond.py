# in a branch of torch.cond
# expect: error
# line: 17
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

w = torch.tensor([-1.0, 3.0], requires_grad=True)
def yes(x):
    return x.log()
def no(x):
    return x.sin()
@torch.compile
def f(x):
    return torch.cond(x.sum() > 0, yes, no, (x,)).sum()
step(f(w), w)
