# compiled autograd is on, and the backward begins outside of what is compiled
# expect: error
# line: 14
# op: aten::div
# phase: backward
# cause: sqrt_gradient_at_zero
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
import torch._dynamo
torch._dynamo.config.compiled_autograd = True
net = nn.Linear(16, 1)
@torch.compile
def f(h):
    return (h - h.detach()).square().sum().sqrt() + h.mean()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss = f(net(torch.randn(8, 16)))
loss.backward()
optimizer.step()
