# a root at zero in a compiled model: bad in the backward alone
# expect: error
# line: 15
# op: aten::div
# phase: backward
# cause: sqrt_gradient_at_zero
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(16, 32), nn.Linear(32, 1)
    def forward(self, x):
        h = torch.relu(self.a(x))
        d = (h - h.detach()).pow(2).sum(1).sqrt()
        return self.b(h).squeeze(1) + d
net = torch.compile(Net())
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss = (net(torch.randn(8, 16)) - 1).square().mean()
optimizer.zero_grad()
loss.backward()
optimizer.step()
