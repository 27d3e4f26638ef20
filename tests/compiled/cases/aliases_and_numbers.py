# results that are views, numbers and None
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

w = torch.zeros(3, 4, requires_grad=True)
@torch.compile
def f(x):
    y = (x * w).log()
    return y, y.view(-1), x.t(), y[1:], 7, {"sum": y.sum(), "none": None}
step(f(torch.ones(3, 4))[0].sum(), w)
