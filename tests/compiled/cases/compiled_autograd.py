# the backward is compiled as well, inside the compiled step
# expect: error
# line: 17
# op: aten::div
# phase: backward
# cause: division_by_zero | sqrt_gradient_at_zero
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
import torch._dynamo
net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
torch._dynamo.config.compiled_autograd = True
@torch.compile
def train(x):
    h = net(x)
    loss = (h - h.detach()).square().sum().sqrt() + h.mean()
    loss.backward()
    return loss
for i in range(2):
    optimizer.zero_grad()
    train(torch.randn(8, 16))
    optimizer.step()
