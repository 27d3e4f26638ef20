# in the backward of an autograd.Function
# expect: error
# line: 23
# op: aten::div
# phase: backward
# cause: division_by_zero
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def step(loss, *parameters):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

class Sine(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g / (x * 0)
w = torch.randn(8, requires_grad=True)
@torch.compile(fullgraph=True)
def f(x):
    return Sine.apply(x * w).sum()
step(f(torch.ones(8)), w)
