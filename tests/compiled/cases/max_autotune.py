# tuned by the compiler
# expect: error
# line: 20
# op: aten::log
# phase: forward
# cause: log_of_zero
# backend: inductor
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def step(loss, *parameters):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

w = torch.zeros(64, 1, requires_grad=True)
@torch.compile(mode="max-autotune-no-cudagraphs")
def f(x, y):
    p = torch.sigmoid((x @ w + 1) * 60)
    return -(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()
step(f(torch.randn(64, 64), torch.ones(64, 1)), w)
