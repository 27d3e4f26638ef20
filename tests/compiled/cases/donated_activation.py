# the compiled backward overwrites what the forward saved
# expect: error
# line: 19
# op: aten::div
# phase: backward
# cause: sqrt_gradient_at_zero
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def step(loss, *parameters):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

w = torch.zeros(64, 64, requires_grad=True)
@torch.compile
def f(x, w):
    h = (x @ w).sin()
    return (h * h).sqrt().sum()
step(f(torch.randn(64, 64), w), w)
