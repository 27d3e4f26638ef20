# the compiler rounds as eager does: nothing is bad
# expect: silence
# backend: inductor
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def step(loss, *parameters):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

w = torch.ones(64, requires_grad=True)
x = torch.full((64,), 129 / 128, dtype=torch.bfloat16)
y = torch.full((64,), 255 / 256, dtype=torch.bfloat16)
@torch.compile(options={"emulate_precision_casts": True})
def f(x, y):
    return (torch.sqrt(1 - x * y) * w).sum()
step(f(x, y), w)
