# the fused kernel keeps float32 where eager rounds: finite there
# expect: error
# line: 23
# op: aten::sqrt
# phase: forward
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

w = torch.ones(64, requires_grad=True)
x = torch.tensor([129 / 128, 0.5] * 32, dtype=torch.bfloat16)
y = torch.full((64,), 255 / 256, dtype=torch.bfloat16)
@torch.compile
def f(x, y):
    return (torch.sqrt(1 - x * y) * w).sum()
step(f(x, y), w)
