# a logarithm of zero in a compiled loss
# expect: error
# line: 12
# op: aten::log
# phase: forward
# cause: log_of_zero
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
@torch.compile
def loss_of(p, y):
    p = torch.sigmoid(p * 60)
    return -(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()
net = nn.Linear(16, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(2):
    x, y = torch.randn(64, 16), (torch.rand(64, 1) > 0.5).float()
    loss = loss_of(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
