# an eager forward, its backward compiled
# expect: error
# line: 16
# op: aten::div
# phase: backward
# cause: division_by_zero | sqrt_gradient_at_zero
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
import torch._dynamo.compiled_autograd as ca
net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(2):
    h = net(torch.randn(8, 16))
    loss = (h - h.detach()).square().sum().sqrt() + h.mean()
    with ca._enable(lambda graph: torch.compile(graph)):
        loss.backward()
    optimizer.step()
