# only compiled, in the backward
# expect: error
# line: 28
# op: aten::sqrt
# phase: backward
# cause: compiled_only
# backend: inductor
# kernel: yes
# setting: emulate_precision_casts
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def step(loss, *parameters):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

w = torch.full((64,), 129 / 128, dtype=torch.bfloat16, requires_grad=True)
y = torch.full((64,), 255 / 256, dtype=torch.bfloat16)
class Root(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w, y):
        ctx.save_for_backward(w, y)
        return w * 1
    @staticmethod
    def backward(ctx, g):
        w, y = ctx.saved_tensors
        return torch.sqrt(1 - w * y) * g, None
@torch.compile
def f(y):
    return Root.apply(w, y).float().sum()
step(f(y), w)
