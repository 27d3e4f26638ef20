# compiled autograd, gradients added to those of the backward before
# expect: error
# line: 17
# op: aten::div
# phase: backward
# cause: division_by_zero
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
import torch._dynamo
torch._dynamo.config.compiled_autograd = True
net = nn.Linear(16, 4)
optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
@torch.compile
def train(x, factor):
    h = net(x)
    loss = (h * factor).square().sum(1).sqrt().mean()
    loss.backward()
    return loss
for i in range(2):
    optimizer.zero_grad(set_to_none=False)
    for factor in (1.0, 0.0):
        train(torch.randn(8, 16), torch.tensor(factor))
    optimizer.step()
