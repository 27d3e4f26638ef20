# a compiled optimizer divides by zero
# expect: error
# line: 13
# op: aten::addcdiv_ | aten::_foreach_addcdiv_
# phase: optimizer
# cause: optimizer_division_by_zero
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
net = nn.Linear(16, 1)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2, eps=0.0)
@torch.compile
def step():
    optimizer.step()
x = torch.randn(8, 16)
x[:, 3] = 0
loss = net(x).square().mean()
loss.backward()
step()
