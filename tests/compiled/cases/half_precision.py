# too large for float16 under autocast
# expect: error
# line: 18
# op: aten::addmm
# phase: forward
# cause: half_overflow
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
def step(loss, *parameters):
    optimizer = torch.optim.SGD(parameters, lr=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

net = nn.Linear(16, 16)
@torch.compile
def f(x):
    return net(x).float().sum()
with torch.autocast("cpu", torch.float16):
    loss = f(torch.full((4, 16), 60000.0))
step(loss, *net.parameters())
