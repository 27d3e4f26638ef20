# three healthy steps, the backward compiled too
# expect: silence
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
import torch._dynamo
net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
torch._dynamo.config.compiled_autograd = True
@torch.compile
def train(x):
    loss = net(x).square().mean()
    loss.backward()
    return loss
for i in range(3):
    optimizer.zero_grad()
    train(torch.randn(8, 16))
    optimizer.step()
